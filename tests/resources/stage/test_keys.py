"""Keys of partitions arrive in a worker as they are, in a small message."""

import pickle

from resources.stage.jobs.keys import Keys


def test_keys_arrive_as_they_are() -> None:
    for keys in (Keys(), Keys([None]), Keys(["a--b"]), Keys(["ä", "a\x00b", 'q"'])):
        found = pickle.loads(pickle.dumps(keys))
        assert (type(found), found) == (Keys, keys)


def test_many_keys_are_a_small_message_and_one_object_in_a_worker() -> None:
    keys = Keys(f"web--part-{number:05d}.jsonl.gz" for number in range(10_000))
    sent = pickle.dumps(keys)
    assert len(sent) < len(pickle.dumps(tuple(keys))) / 6
    assert pickle.loads(sent) == keys
    assert pickle.loads(sent) is pickle.loads(sent)
