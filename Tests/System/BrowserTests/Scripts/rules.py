"""The rules of a script: its functions of several words that have a docstring and take nothing."""

import traceback


def rules_of(namespace):
    """The rules among the globals of a script, in their order."""
    return [rule for name, rule in namespace.items()
            if callable(rule) and getattr(rule, "__doc__", None) and "_" in name
            and rule.__module__ == namespace["__name__"] and getattr(rule, "__code__", None)
            and rule.__code__.co_argcount == 0]


def play_rules(rules, before=lambda rule: None, after=lambda rule: None, failed=lambda rule: ""):
    """Plays each rule between `before` and `after`, and prints what failed with the text of `failed`, and last the line that
    the tests look for. Returns the number of failures."""
    failures = 0
    for rule in rules:
        try:
            before(rule)
            rule()
            after(rule)
        except Exception:
            failures += 1
            print(f"failed: {rule.__name__}: {rule.__doc__}\n{traceback.format_exc(limit=4)}\n{failed(rule)}")
    print(f"{len(rules)} rules, {failures} failures")
    return failures
