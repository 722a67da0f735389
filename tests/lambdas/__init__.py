"""The functions as Lambda runs them: built, in processes of their own, behind a gateway that reads the template."""
