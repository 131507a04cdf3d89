"""Prints each field of the messages of the installed Flower, as "MESSAGE.FIELD NUMBER LABEL TYPE"."""

import importlib

from google.protobuf.descriptor import FieldDescriptor

MODULES = "control error fab fleet heartbeat message node recorddict run runtime task".split()
TYPES = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}


def dump(message):
    name = message.full_name.removeprefix("flwr.proto.").replace(".", "")
    for field in message.fields:
        oneof = field.containing_oneof
        if field.is_repeated:
            label = "repeated"
        elif oneof is not None and not oneof.name.startswith("_"):
            label = "oneof"
        else:
            label = "optional" if field.has_presence else "plain"
        kind = TYPES[field.type]
        if field.message_type is not None:
            kind = field.message_type.full_name.removeprefix("flwr.proto.").replace(".", "")
        print(f"{name}.{field.name} {field.number} {label} {kind}")
    for nested in message.nested_types:
        dump(nested)


for module in MODULES:
    descriptor = importlib.import_module(f"flwr.proto.{module}_pb2").DESCRIPTOR
    for message in descriptor.message_types_by_name.values():
        dump(message)
