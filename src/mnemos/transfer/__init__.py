"""Conversations that other programs keep, brought in.

A reader knows one program's files and yields what stands in them; it stores nothing. The one writer stores
it: in short transactions, each with how far the file was read, so that an import can end at any moment and
goes on from there. Files are only ever read.
"""
