"""What the product takes, measured side by side with what it is compared to; `make bench` writes report.md."""
