"""Values are joined from the planes of HDF5's byte shuffle, with numba and without."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from resources.formats.hdf5.reader import _join_planes
from resources.formats.kernels.planes import join_planes, split_planes


@given(values=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=40), data=st.data())
def test_planes_become_the_values_they_were_made_of(values: list[int], data: st.DataObject) -> None:
    planes = np.empty((4, len(values)), np.uint8)
    split_planes(np.array(values, np.int32), planes, 0)
    planes = np.frombuffer(planes.tobytes(), np.uint8).reshape(4, -1)
    first = data.draw(st.integers(0, len(values)))
    last = data.draw(st.integers(first, len(values)))
    for join in (join_planes, _join_planes):
        found = np.empty(last - first, np.int32)
        join(planes, first, found)
        assert found.tolist() == values[first:last]
