"""What a model really learns of a batch, read off its gradients: which ids it saw, and which id it had to predict."""

from typing import Any

Pair = tuple[list[int], int]


class Watched:
    """Keeps what the embedding and the last layer of a model made of a batch.

    weight: the matrix of the head, (vocabulary, width) with vocabulary <= width, so that the gradient of a place says
    which id was its label, whoever computes the loss.
    """

    def __init__(self, embedding: Any, last: Any, weight: Any) -> None:
        self.weight = weight
        embedding.register_forward_hook(self._embedded)
        last.register_forward_hook(self._made)

    def _embedded(self, _: Any, given: Any, made: Any) -> None:
        self.ids, self.embedded = given[0], made

    def _made(self, _: Any, given: Any, made: Any) -> None:
        self.hidden = made

    def pairs(self, loss: Any) -> list[Pair]:
        """Ids that a place saw, and the id that it learned to predict, for every place that learned."""
        import torch

        (gradient,) = torch.autograd.grad(loss, self.hidden, retain_graph=True)
        pull = gradient.double() @ torch.linalg.pinv(self.weight.detach().double())
        found = []
        for row, place in torch.nonzero(gradient.abs().sum(-1)).tolist():
            (seen,) = torch.autograd.grad(self.hidden[row, place, 0], self.embedded, retain_graph=True)
            context = torch.nonzero(seen.abs().sum(-1)).tolist()
            assert all(other == row for other, _ in context)
            ids = [int(self.ids[row, place]) for _, place in context]
            found.append((ids, int(pull[row, place].argmin())))
        return found
