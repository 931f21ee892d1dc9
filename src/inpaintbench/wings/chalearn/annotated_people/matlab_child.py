"""Runs as a program of its own: reads one variable of a MATLAB file and pickles it to the standard output.

SciPy's reader ends the whole process with a segmentation fault on some damaged files.
"""

from __future__ import annotations

import pickle
import sys
import warnings

from scipy import io


def answer(path: str, variable: str) -> bytes:
    """The pickle of ("value", it), ("names", those of all variables) or ("error", why)."""
    try:
        warnings.simplefilter("error", io.matlab.MatReadWarning)
        variables = io.loadmat(path, variable_names=[variable], appendmat=False, verify_compressed_data_integrity=True)
        if variable in variables:
            return pickle.dumps(("value", variables[variable]))
        return pickle.dumps(("names", [name for name, _, _ in io.whosmat(path, appendmat=False)]))
    except Exception as error:  # on damaged bytes SciPy raises nearly anything
        return pickle.dumps(("error", str(error) or type(error).__name__))


if __name__ == "__main__":
    sys.stdout.buffer.write(answer(sys.argv[1], sys.argv[2]))
