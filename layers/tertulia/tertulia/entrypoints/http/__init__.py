"""The HTTP surface: one application, one router for each resource."""
