"""A model of two layers, 32 wide, with random weights, which learns a batch by heart in ten steps on a CPU."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, STEPS = 32, 2, 2, 10
IGNORED = -100


class TinyModel(nn.Module):  # type: ignore[misc]
    """A decoder with learned positions."""

    def __init__(self, vocabulary: int, length: int) -> None:
        super().__init__()
        self.ids, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(length, WIDTH)
        layer = {"dim_feedforward": 4 * WIDTH, "dropout": 0.0, "batch_first": True, "norm_first": True}
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(WIDTH, HEADS, **layer) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Scores of the next id, (rows, length, vocabulary), for ids (rows, length)."""
        found = self.ids(ids) + self.places(torch.arange(ids.shape[1]))
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        for layer in self.layers:
            found = layer(found, src_mask=mask, is_causal=True)
        scores: torch.Tensor = self.head(found)
        return scores


def losses(batches: Sequence[Mapping[str, Any]]) -> list[float]:
    """The loss of each of ten steps over batches in turn.

    A batch has `inputs` and `labels`, (rows, length): at each place the id after that of the input, or -100.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)
    given = [{name: torch.as_tensor(values).long() for name, values in batch.items()} for batch in batches]
    vocabulary = 1 + max(int(values.max()) for batch in given for values in batch.values())
    model = TinyModel(vocabulary, max(batch["inputs"].shape[1] for batch in given))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    found = []
    for step in range(STEPS):
        batch = given[step % len(given)]
        scores = model(batch["inputs"]).flatten(0, 1)
        loss = functional.cross_entropy(scores, batch["labels"].flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(float(loss.detach()))
    return found
