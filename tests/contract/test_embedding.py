"""What every member of `embedding` must do. Members are found, not listed."""

import member_facts
import msgspec
import torch
from model_part import SIZES, USUAL, ModelPart, loud_model, parts, text

from onechange import family
from onechange.model import Model
from onechange.operations import per_token


class TestEmbedding(ModelPart):
    family = "embedding"

    @torch.no_grad()
    def test_scores_are_products_with_the_rows_of_its_table(self, name: str):
        model = self.loud(name)
        assert model.scoring.shape == (SIZES.vocabulary, SIZES.width)
        features = model(text())
        expected = torch.einsum("btw,vw->btv", features.double(), model.scoring.double())
        torch.testing.assert_close(model.logits(features), expected.float(), rtol=1e-4, atol=1e-4)
        surprise = -expected.log_softmax(-1).gather(-1, text().roll(-1, 1)[..., None])[..., 0]
        torch.testing.assert_close(
            model.nats(text(), text().roll(-1, 1)), surprise.float(), rtol=1e-4, atol=1e-4
        )

    @torch.no_grad()
    def test_how_tokens_are_read_does_not_depend_on_it(self, name: str):
        usual = loud_model("embedding", family.resolve("embedding", USUAL["embedding"]))
        assert torch.equal(self.loud(name)(text()), usual(text()))

    def test_its_product_is_counted(self, name: str):
        """Forward and backward: six operations for every weight of the rows that are more."""
        settings = parts("embedding", member_facts.resolved("embedding", name))
        more = msgspec.structs.replace(SIZES, vocabulary=SIZES.vocabulary + 10)
        few, many = (per_token(Model(sizes, settings), sizes) for sizes in (SIZES, more))
        assert many - few == 6 * 10 * SIZES.width
