"""Writes the golden files of this folder with Flower 1.41.0:

    python3 -m venv /tmp/flwr && /tmp/flwr/bin/pip install flwr==1.41.0
    /tmp/flwr/bin/python runtime/flower/tests/golden/make.py

objects.txt has one object a line, as "NAME ID HEX": the objects of a request with one array of each
type, metrics and settings, of an error, and the envelope of a message with records in it. executor.txt has the headers of AcquireTask.
"""

import pathlib
from collections import OrderedDict

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, MetricRecord, RecordDict
from flwr.app.message import Message, make_message
from flwr.app.metadata import Metadata
from flwr.common.serde import recorddict_to_proto
from flwr.supercore.auth.superexec import compute_superexec_signature, derive_auth_secret
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects
import hashlib

HERE = pathlib.Path(__file__).parent


def metadata():
    return Metadata(
        run_id=18446744073709551557, message_id="", src_node_id=1, dst_node_id=9223372036854775813,
        reply_to_message_id="", group_id="3", created_at=1764000000.25, ttl=90.5,
        message_type="train.fed_prox",
    )


def arrays():
    values = OrderedDict()
    values["conv1.weight"] = np.arange(-3, 3, dtype=np.float32).reshape(2, 3) / 4
    values["double"] = np.array([1e300, -0.0], dtype=np.float64)
    values["int"] = np.array(7, dtype=np.int32)
    values["long"] = np.array([[[-(2**63)]]], dtype=np.int64)
    values["bytes"] = np.arange(5, dtype=np.uint8)
    values["mask \u00e9\U0001f338\x7f\""] = np.array([True, False])
    values["empty"] = np.zeros((0, 4), dtype=np.float32)
    values["same as int"] = np.array(7, dtype=np.int32)
    return ArrayRecord(OrderedDict((k, Array(v)) for k, v in values.items()))


def content():
    return RecordDict(OrderedDict([
        ("arrays", arrays()),
        ("metrics", MetricRecord({"num-examples": 600, "loss": 0.5, "all": [1.5, -2.0], "ints": [-1, 2]})),
        ("config", ConfigRecord({
            "server-round": 3, "lr": 0.1, "on": True, "text": "h\u00e9", "raw": b"\x00\xff",
            "floats": [0.5], "longs": [-1, 2], "flags": [True, False], "texts": ["a", ""], "raws": [b"\x01", b""],
        })),
    ]))


def zeros():
    """Three chunks, two of them equal."""
    return Array(np.zeros(3 * 5 * 2**20 // 4, dtype=np.float32))


def lines():
    request = make_message(metadata=metadata(), content=content())
    for object_id, value in get_all_nested_objects(request).items():
        yield f"request {object_id} {value.deflate().hex()}"
    error = make_message(metadata=metadata(), error=Error(code=2, reason="out of mem\u00f6ry"))
    yield f"error {error.object_id} {error.deflate().hex()}"
    big = zeros()
    yield f"zeros {big.object_id} {big.deflate().hex()}"


def inline():
    """The envelope of a message with two records in it and one as an object, and that object."""
    shared = ConfigRecord({"bytes": bytes(range(200))})
    yield f"shared {shared.object_id} {shared.deflate().hex()}"
    envelope = RecordDict(OrderedDict([
        ("own", ConfigRecord({"bytes": b"\x01\x00\xff", "n": 7})),
        ("metrics", MetricRecord({"loss": 0.5})),
        ("", ConfigRecord({"shared": shared.object_id})),
    ]))
    yield f"envelope - {recorddict_to_proto(envelope).SerializeToString().hex()}"


def executor():
    body = hashlib.sha256(b"\x0a\x0eflwr-serverapp").hexdigest()
    signature = compute_superexec_signature(
        auth_secret=derive_auth_secret(b"a secret of a test"), method="/flwr.proto.Runtime/AcquireTask",
        timestamp=1764000000, nonce="00ff", body_sha256=body,
    )
    return [
        "flwr-superexec-ts: 1764000000", "flwr-superexec-nonce: 00ff",
        f"flwr-superexec-body-sha256: {body}", f"flwr-superexec-signature: {signature}",
    ]


HERE.joinpath("objects.txt").write_text("".join(f"{line}\n" for line in [*lines(), *inline()]))
HERE.joinpath("executor.txt").write_text("".join(f"{line}\n" for line in executor()))
