"""What a function needs to begin."""

import subprocess
import sys


def test_fastapi_builds_no_models_of_documents_before_one_is_asked_for_and_ours_are_built_as_ever() -> None:
    code = """
import tertulia.entrypoints.aws, tertulia.entrypoints.http.models as ours
from fastapi.openapi.models import OpenAPI
built = OpenAPI.__pydantic_complete__, ours.ChatResponse.__pydantic_complete__
made = OpenAPI(openapi="3.1.0", info={"title": "t", "version": "1"}, paths={})
print(*built, made.info.title)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "t"]
