"""Compares the stand-ins of Android's framework with the published signatures of API 36.

    compare.py FOLDER-OF-THE-SIGNATURES [FILE…]

The signatures are the type stubs of the package `chaquopy-stubs-android`, made from `android.jar`. A member
of a stand-in that is not among them, or that has other types or another nullability there, is a line of output and the
status 1. Values of constants are not among the signatures.
"""

import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent / "framework"
MEMBER = re.compile(
    r"^(?:public |protected )?(?:abstract |static |final |default )*(?:<[^(]*?> )?(?P<null>@Nullable )?"
    r"(?P<type>[\w.<>\[\], ]+?) (?P<name>\w+)\((?P<parameters>.*?)\)")
CONSTRUCTOR = re.compile(r"^(?:public |protected )(?P<name>\w+)\((?P<parameters>.*?)\)")
CONSTANT = re.compile(r"^public static (?:final )?(?P<type>\w+) (?P<name>\w+) =")
TYPE = re.compile(r"^(?:public )?(?:abstract |static |final )*@?(?:class|interface) (?P<name>\w+)[^{]*\{(?P<empty>\})?")
WORDS = {"boolean": "bool", "long": "int", "int": "int", "String": "str", "void": "None"}


def signatures(folder, package):
    """The classes of a package, by their names with dots."""
    top, *rest = package.split(".")
    path = folder.joinpath(f"{top}-stubs", *rest, "__init__.pyi")
    found = {}

    def visit(prefix, body):
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = node
                visit(f"{prefix}{node.name}.", node.body)

    visit("", ast.parse(path.read_text()).body)
    return found


def simple(text):
    """A type as one word: without packages, outer classes, generics, and a null beside it."""
    text = text.split(" | ")[0]
    text = re.sub(r"[\[<].*", "", text).split(".")[-1]
    return re.sub(r"^_\w*__", "", WORDS.get(text, text)).removeprefix("_")


def wanted(parameters):
    """The types of the parameters of a stand-in."""
    texts = [text.strip() for text in re.sub(r"<[^<>]*>", "", parameters).split(",") if text.strip()]
    return [simple(text.replace("@Nullable ", "").rsplit(" ", 1)[0].replace("...", "")) for text in texts]


def given(function):
    """The types of the parameters of a published function."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if arguments and arguments[0].arg == "self":
        arguments = arguments[1:]
    if function.args.vararg:
        arguments.append(function.args.vararg)
    names = [simple(ast.unparse(argument.annotation)) for argument in arguments]
    return ["Class" if name == "Type" else name for name in names]


def matches(function, parameters, result=None, is_nullable=False):
    if given(function) != parameters:
        return False
    if result is None:
        return True
    text = ast.unparse(function.returns)
    has_none = text.endswith("| None")
    return simple(text) == result and has_none == is_nullable


def faults(path, classes):
    """For each class and member of a file the fault, or None."""
    stack, depths, depth = [], [], 0
    for line in path.read_text().splitlines():
        text = line.strip()
        start = TYPE.match(text)
        if start:
            stack.append(start["name"])
            depths.append(depth)
            yield None if ".".join(stack) in classes else f"no class {'.'.join(stack)}"
        elif stack and depth == depths[-1] + 1:
            known = classes.get(".".join(stack))
            if text.startswith(("public ", "protected ", "void ", "int ", "default ")):
                fault = member_fault(text, stack[-1], known.body if known else [])
                yield fault and f"{'.'.join(stack)}: {fault}"
        depth += line.count("{") - line.count("}")
        while depths and depth <= depths[-1]:
            stack.pop()
            depths.pop()


def member_fault(text, owner, body):
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    if constant := CONSTANT.match(text):
        for node in body:
            if isinstance(node, ast.AnnAssign) and node.target.id == constant["name"]:
                is_same = f"[{simple(constant['type'])}]" in ast.unparse(node.annotation)
                return None if is_same else f"another type: {text}"
        return f"no constant {constant['name']}"
    if constructor := CONSTRUCTOR.match(text):
        if constructor["name"] != owner:
            return f"not understood: {text}"
        parameters = wanted(constructor["parameters"])
        known = [function for function in functions if function.name == "__init__"]
        return None if any(matches(function, parameters) for function in known) else f"no constructor {text}"
    member = MEMBER.match(text)
    if not member:
        return f"not understood: {text}"
    known = [function for function in functions if function.name == member["name"]]
    words = wanted(member["parameters"]), simple(member["type"]), bool(member["null"])
    return None if any(matches(function, *words) for function in known) else f"no member {text}"


def main():
    folder, *names = map(pathlib.Path, sys.argv[1:])
    found = []
    for path in names or sorted(HERE.rglob("*.java")):
        package = re.search(r"^package ([\w.]+);", path.read_text(), re.M)[1]
        found += [fault and f"{path.name}: {fault}" for fault in faults(path, signatures(folder, package))]
    lies = [fault for fault in found if fault]
    print("\n".join([*lies, f"{len(found)} classes and members, {len(lies)} not in API 36"]))
    sys.exit(1 if lies else 0)


main()
