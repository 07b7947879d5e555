"""Programs as one C++ loop: a step is traced once, and its loops run without Python in between.

`trace` records the tensor operations of a step, `lower` turns them into expressions of single numbers,
`schedule` decides in which loop each expression is evaluated, `emit` writes C++, and `build` compiles and
loads it. What these files do not know (an operation, an arrangement of axes) is `Unsupported`: such a
program is left to torch's own compiler.
"""
