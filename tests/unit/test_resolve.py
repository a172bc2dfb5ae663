"""The resolved document: defaults and presets written out, one hash for one simulation."""

import json

from simcore.scenario.parse import scenario_from
from simcore.scenario.resolve import canonical_json, resolved_document, scenario_hash
from tests.casts import one_region, two_regions


def hash_of(document):
    return scenario_hash(resolved_document(scenario_from(document)))


def test_a_resolved_document_resolves_to_itself():
    resolved = resolved_document(scenario_from(two_regions()))
    again = resolved_document(scenario_from(json.loads(canonical_json(resolved))))
    assert canonical_json(again) == canonical_json(resolved)


def test_a_preset_fills_only_what_is_not_given():
    document = two_regions()
    del document["training"]["schedule"], document["training"]["transport"]
    document["training"]["system"] = "atlas"
    training = scenario_from(document).training
    assert (training.schedule, training.transport.connections, training.transport.sharing) == (
        "greedy",
        "auto",
        "temporal",
    )
    document["training"]["transport"] = {"sharing": "spatial"}
    training = scenario_from(document).training
    assert (training.transport.connections, training.transport.sharing) == ("auto", "spatial")


def test_the_hash_ignores_what_people_call_it():
    assert hash_of(one_region(name="a")) == hash_of({**one_region(name="b"), "description": "other"})


def test_the_hash_ignores_order_and_written_out_defaults():
    document = one_region()
    reordered = dict(reversed(document.items()))
    reordered["training"] = {**reordered["training"], "optimizer_ms": 0, "cell_size": 1}
    assert hash_of(document) == hash_of(reordered)


def test_the_hash_sees_everything_that_counts():
    assert hash_of(one_region()) != hash_of({**one_region(), "seed": 1})
    assert hash_of(one_region()) != hash_of(one_region(microbatches=3))
