"""Writes the socket's models as TypeScript, so that both sides agree on the fields.

`python -m onyx_jupyter.server.wire_types` writes the file, `--check` only says whether it is current. Whatever
TypeScript cannot express exactly is an error rather than `any`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from onyx_jupyter.app.features import EVENTS, OPERATIONS
from onyx_jupyter.generated_file import write_or_check
from onyx_jupyter.operations import limits

TARGET = Path(__file__).parents[2] / "labextension" / "src" / "protocol" / "wire.ts"
HEADER = """\
// Generated from the features of onyx_jupyter/app/ by `python -m onyx_jupyter.server.wire_types`. Do not edit.
"""

Schema = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Writes the types, or with `--check` compares them: returns 1 if the file on disk is outdated."""
    return write_or_check(TARGET, typescript(), arguments, "onyx_jupyter.server.wire_types")


def typescript() -> str:
    """The whole file: constants, one interface per model, then the maps of methods and events."""
    models = _served_models()
    _, schemas = models_json_schema([(model, "validation") for model in models], by_alias=True)
    definitions = schemas["$defs"]
    parts = [HEADER, _constants()]
    parts += [_interface(name, definitions[name]) for name in sorted(definitions)]
    parts += [_methods(), _events()]
    return "\n".join(parts)


def _served_models() -> list[type[BaseModel]]:
    found = {model for operation in OPERATIONS for model in (operation.params, operation.result)}
    found |= {event.data for event in EVENTS.values()}
    return sorted(found, key=lambda model: model.__name__)


def _constants() -> str:
    numbers = {name: value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)}
    return "".join(f"export const {name} = {value};\n" for name, value in numbers.items())


def _interface(name: str, schema: Schema) -> str:
    lines = [*_comment(schema.get("description"), ""), f"export interface {name} {{"]
    required = set(schema.get("required", ()))
    for key, field in schema.get("properties", {}).items():
        lines += _comment(field.get("description"), "  ")
        lines.append(f"  {key}{'' if key in required else '?'}: {_type(field)};")
    if schema.get("additionalProperties") is True:
        lines.append("  [key: string]: unknown;")
    return "\n".join([*lines, "}", ""])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type(option) for option in schema["anyOf"])
    return _plain_type(schema)


def _plain_type(schema: Schema) -> str:
    simple = {"string": "string", "boolean": "boolean", "integer": "number", "number": "number", "null": "null"}
    kind = schema.get("type")
    if not schema.keys() - {"title", "description", "default"}:
        return "unknown"  # any JSON
    if kind in simple:
        return simple[kind]
    if kind == "array":
        return f"Array<{_type(schema['items'])}>"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"Record<string, {'unknown' if values is True else _type(values)}>"
    raise TypeError(f"No TypeScript for this schema: {json.dumps(schema)}. Teach onyx_jupyter/server/wire_types.py.")


def _methods() -> str:
    rows = [
        f'  "{one.name}": {{ params: {one.params.__name__}; result: {one.result.__name__} }};' for one in OPERATIONS
    ]
    return "\n".join(
        ["/** Every method with its parameters and its result. */", "export interface Methods {", *rows, "}", ""]
    )


def _events() -> str:
    rows = [f'  "{name}": {event.data.__name__};' for name, event in EVENTS.items()]
    return "\n".join(["/** Every event with its data. */", "export interface Events {", *rows, "}", ""])


def _comment(text: str | None, indent: str) -> list[str]:
    if not text:
        return []
    lines = text.strip().splitlines()
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    body = [f"{indent} * {line.strip()}".rstrip() for line in lines]
    return [f"{indent}/**", *body, f"{indent} */"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
