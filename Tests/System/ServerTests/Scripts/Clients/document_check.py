"""The document that a listener serves is OpenAPI 3.1, and each of its examples is what its schema says."""

import sys

import jsonschema
import openapi_spec_validator
import requests

import stage


def schemas_with_examples(document):
    """Each schema with an example of it, wherever in the document they stand together."""
    def walk(value, place):
        if isinstance(value, list):
            for index, element in enumerate(value):
                yield from walk(element, f"{place}/{index}")
        elif isinstance(value, dict):
            schema = value.get("schema")
            if schema is not None and "example" in value:
                yield place, schema, value["example"]
            if schema is not None and isinstance(value.get("examples"), dict):
                for name, example in value["examples"].items():
                    yield place + "/" + name, schema, example["value"]
            if schema is None and isinstance(value.get("examples"), list):
                for example in value["examples"]:
                    yield place, value, example
            for name, member in value.items():
                if name not in ("example", "examples"):
                    yield from walk(member, f"{place}/{name}")

    return walk(document, "")


def main():
    counts = []
    for base in (stage.PUBLIC, stage.ADMIN):
        answer = requests.get(base + "/openapi.json")
        document = answer.json()
        openapi_spec_validator.validate(document)
        count = 0
        for place, schema, example in schemas_with_examples(document):
            # References are looked up in the document itself.
            whole = dict(schema, components=document["components"])
            try:
                jsonschema.Draft202012Validator(whole).validate(example)
            except jsonschema.ValidationError as error:
                sys.exit(f"{place}: {error.message}")
            count += 1
        for path, item in document["paths"].items():
            for method, operation in item.items():
                assert operation["summary"] and operation["responses"] and operation["operationId"], (path, method)
        counts.append(count)
    assert min(counts) > 20, counts


main()
