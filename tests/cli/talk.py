"""How the tests read what a command says."""


def only_line(text):
    """The one line that this text must be."""
    assert text.endswith("\n")
    (line,) = text.splitlines()
    return line
