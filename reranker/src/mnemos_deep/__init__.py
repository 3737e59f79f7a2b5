"""The weights of deep recall: ``model.onnx`` and ``tokenizer.json`` in ``FOLDER``."""

from pathlib import Path

FOLDER = Path(__file__).parent
