"""Transfer: imports of other programs' conversations, and archives of a memory.

A reader knows one program's files and yields their content without storing anything. One writer stores it in
short transactions, each with the position in the file, so an import can be interrupted and resumed at any
moment. Foreign files are only ever read.
"""
