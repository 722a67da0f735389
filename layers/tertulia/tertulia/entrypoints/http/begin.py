"""FastAPI, imported without building its models of an OpenAPI document: a tenth of what a Lambda needs to begin."""

from pydantic import BaseModel, ConfigDict


def import_fastapi() -> None:
    """Import FastAPI, and have its own models built when they are first used."""
    usual = BaseModel.model_config
    # FastAPI has no such option, and pydantic looks for it when a class is made.
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import fastapi  # noqa: F401, PLC0415
    finally:
        BaseModel.model_config = usual
