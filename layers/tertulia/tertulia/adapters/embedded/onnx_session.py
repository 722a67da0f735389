"""One way to open an ONNX model, so that all of them share two cores in peace."""

from pathlib import Path
from typing import Any

from tertulia.domain.errors import ModelDown, ModelMissing


def open_session(model: Path, threads: int) -> Any:
    """Open a model for so many threads; raises ModelMissing, or ModelDown for a file that is no model."""
    import onnxruntime  # type: ignore[import-untyped]
    from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait take the cores from the language model beside them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except onnx_errors.NoSuchFile as error:
        raise ModelMissing(f"The model file {model.name} is missing.") from error
    except (
        onnx_errors.Fail,
        onnx_errors.InvalidProtobuf,
        onnx_errors.InvalidGraph,
        onnx_errors.RuntimeException,
    ) as error:
        raise ModelDown(f"The model file {model.name} cannot be read.") from error
