"""Transfer: conversations of other programs that are imported, and archives of a whole memory.

A reader knows one program's files and yields their content without storing anything. One writer stores it
in short transactions, each with the position in the file, so that an import can be interrupted at any moment
and resumed. Foreign files are only ever read.
"""
