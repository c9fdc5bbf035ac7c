"""What looks at variables from inside a kernel. It runs there as text, so it imports nothing but the standard library.

The files are put together in the order of `kernel_inspection.PARTS` and run on Python 3.8 and newer, whatever is
installed beside it. They call nothing that a user wrote: no `__repr__`, no `__len__`, no property.
"""
