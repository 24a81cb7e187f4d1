"""The model all-MiniLM-L6-v2 as an ONNX graph with 8-bit weights, made from the weights of its package.

Owns the graph. Knows no texts and no tokens but their numbers; writes no files.

The weights of the dense layers are rounded column by column, those of the words row by row. The former keep to seven bits:
processors without the newer instructions add up products of eight bits with overflow. From 91 MB this makes 23 MB that run
several times as fast, and the new vectors have a cosine of about .99 to the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmap import mmap

    from numpy.typing import NDArray

DIMENSIONS = 384
LAYERS = 6
HEADS = 12
TOKENS = 256
"""Tokens of a text that the model was trained to look at."""
_EPSILON = 1e-12
_TINY = 1e-30
_OPSET = 20
_IR = 9
_WORD_LIMIT, _LAYER_LIMIT = 127, 63


def make_model(weights: mmap) -> bytes:
    """The model with numbers of tokens and their mask as input, and vectors of length one as output."""
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    graph.text_vectors()
    long, real = TensorProto.INT64, TensorProto.FLOAT
    made = helper.make_graph(
        graph.nodes,
        "minilm",
        [helper.make_tensor_value_info(name, long, ["texts", "tokens"]) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", real, ["texts", DIMENSIONS])],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    content: bytes = model.SerializeToString()
    return content


class _Graph:
    """Nodes and constants, as they come together."""

    def __init__(self, weights: mmap) -> None:
        import json

        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._weights = weights
        self._start = int.from_bytes(weights[:8], "little") + 8
        self._tensors = json.loads(weights[8 : self._start])

    def text_vectors(self) -> None:
        """From the numbers of tokens to the vectors of texts: the mean of what the last layer says of each token."""
        mask = self._add("Unsqueeze", self._add("Cast", "mask", to=1), self._whole([2]))
        hidden = self._words()
        # What is masked gets a weight of e^-10000, which is 0.
        away = self._add(
            "Mul", self._add("Sub", self._real(1.0), self._add("Unsqueeze", mask, self._whole([1]))), self._real(-1e4)
        )
        away = self._add("Transpose", away, perm=[0, 1, 3, 2])
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, away)
        total = self._add("ReduceSum", self._add("Mul", hidden, mask), self._whole([1]), keepdims=0)
        length = self._add("ReduceL2", total, self._whole([1]), keepdims=1)
        self._add("Div", total, self._add("Max", length, self._real(_TINY)), output="vectors")

    def _words(self) -> str:
        table, scales = _rounded(self._tensor("embeddings.word_embeddings.weight").T, _WORD_LIMIT)
        word = self._add("Cast", self._add("Gather", self._constant(table.T), "ids"), to=1)
        word = self._add("Mul", word, self._add("Gather", self._constant(scales[:, None]), "ids"))
        # Every text is one sentence of the first kind, so its vector is a part of that of the place.
        place = (
            self._tensor("embeddings.position_embeddings.weight")
            + self._tensor("embeddings.token_type_embeddings.weight")[0]
        )
        tokens = self._add("Shape", "ids", start=1, end=2)
        places = self._add("Slice", self._constant(place[:TOKENS]), self._whole([0]), tokens)
        return self._normal("embeddings.LayerNorm", self._add("Add", word, places))

    def _layer(self, name: str, hidden: str, away: str) -> str:
        seen = self._quantized(hidden)
        query, key, value = (
            self._heads(self._dense(f"{name}attention.self.{part}", seen)) for part in ("query", "key", "value")
        )
        key = self._add("Transpose", key, perm=[0, 1, 3, 2])
        scores = self._add("Mul", self._add("MatMul", query, key), self._real((DIMENSIONS / HEADS) ** -0.5))
        attention = self._add("Softmax", self._add("Add", scores, away), axis=-1)
        mixed = self._add("Transpose", self._add("MatMul", attention, value), perm=[0, 2, 1, 3])
        mixed = self._add("Reshape", mixed, self._whole([0, 0, DIMENSIONS]))
        mixed = self._dense(f"{name}attention.output.dense", self._quantized(mixed))
        hidden = self._normal(f"{name}attention.output.LayerNorm", self._add("Add", mixed, hidden))
        inner = self._add("Gelu", self._dense(f"{name}intermediate.dense", self._quantized(hidden)))
        inner = self._dense(f"{name}output.dense", self._quantized(inner))
        return self._normal(f"{name}output.LayerNorm", self._add("Add", inner, hidden))

    def _heads(self, hidden: str) -> str:
        parted = self._add("Reshape", hidden, self._whole([0, 0, HEADS, DIMENSIONS // HEADS]))
        return self._add("Transpose", parted, perm=[0, 2, 1, 3])

    def _normal(self, name: str, hidden: str) -> str:
        scale, shift = (self._constant(self._tensor(f"{name}.{part}")) for part in ("weight", "bias"))
        return self._add("LayerNormalization", hidden, scale, shift, axis=-1, epsilon=_EPSILON)

    def _quantized(self, hidden: str) -> tuple[str, str, str]:
        """Eight bits of what goes into a dense layer, their scale, and what stands for zero."""
        names = tuple(f"{hidden}.{part}" for part in ("bits", "scale", "zero"))
        self._node("DynamicQuantizeLinear", (hidden,), names)
        return names[0], names[1], names[2]

    def _dense(self, name: str, seen: tuple[str, str, str]) -> str:
        # The nodes stand in the order in which onnxruntime knows how to make one of them.
        bits, scale, zero = seen
        table, scales = _rounded(self._tensor(f"{name}.weight").T, _LAYER_LIMIT)
        product = self._add("Cast", self._add("MatMulInteger", bits, self._constant(table), zero), to=1)
        product = self._add("Mul", product, self._add("Mul", scale, self._constant(scales)))
        return self._add("Add", product, self._constant(self._tensor(f"{name}.bias")))

    def _add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"n{len(self.nodes)}"
        self._node(kind, inputs, (output,), **attributes)
        return output

    def _node(self, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **attributes: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))

    def _constant(self, value: NDArray[Any]) -> str:
        import numpy as np
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value) if value.ndim else value, name))
        return name

    def _real(self, value: float) -> str:
        import numpy as np

        return self._constant(np.array(value, np.float32))

    def _whole(self, values: list[int]) -> str:
        import numpy as np

        return self._constant(np.array(values, np.int64))

    def _tensor(self, name: str) -> NDArray[Any]:
        import numpy as np

        tensor = self._tensors[name]
        start, end = tensor["data_offsets"]
        if tensor["dtype"] != "F32":
            raise ValueError("the weights are not 32-bit numbers")
        return np.frombuffer(self._weights[self._start + start : self._start + end], "<f4").reshape(tensor["shape"])


def _rounded(table: NDArray[Any], limit: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A table in whole numbers up to a limit, with the scale of each of its columns."""
    import numpy as np

    scales = np.maximum(np.abs(table).max(axis=0) / limit, _TINY)
    return np.rint(table / scales).astype(np.int8), scales.astype(np.float32)
