"""Text files: one line, one record.

PROMISE. No record depends on another line: with one line removed, or replaced by any bytes without a line end, exactly
the record of that line is gone or another, and every other record stays as it was.
PROOF. `lines` cuts a file at its line ends and nowhere else, whatever stands between them, and flags each line by its
own bytes: too long, or outside the encoding. `csv` and `json` make a record, or none, of each line by itself: the rule
of the line's fields is applied from the line's first byte to its last, never further. What follows from the file's
first lines (`sniffing`: encoding, dialect, names and types) is a public fact, fixed when the table is opened.

A line ends with LF or CR LF; the last may end with the file. A CR elsewhere, NEL, LS and NUL are ordinary characters.
An empty line is no record. A line is left out, alone, if it is longer than `lines.LIMIT` bytes, has bytes outside the
encoding, another number of fields, an unbalanced quote, or is no JSON object. `tacit check` counts these lines for the
custodian; no answer or message tells of them.

Values that span lines need the custodian's declaration ``multiline=True``, that the writer quotes properly. Then
DuckDB's own readers are used, and the promise holds only as far as that declaration: one open quote may hide or change
the records after it.
"""
