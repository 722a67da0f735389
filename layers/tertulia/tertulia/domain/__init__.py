"""The words of the product and their rules; standard library only."""
