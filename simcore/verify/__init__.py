"""Check any timeline against MODEL.md, without simulating.

The checks know the rules only, not how an engine gets there, and take durations and channels
from `simcore.costs.plan`. Two things they cannot see: whether a prefill could have finished
earlier elsewhere (that would mean placing all requests again; the twin does that), and orders
within one instant that only operations of no length can bring about.
"""

from simcore.costs.plan import cell_plan
from simcore.results.timeline import Timeline
from simcore.scenario.document import Scenario
from simcore.verify.channels import check_channels
from simcore.verify.choices import check_greedy, check_static
from simcore.verify.ending import check_end
from simcore.verify.fills import check_fills
from simcore.verify.report import Report, Rule, Violation
from simcore.verify.tables import read_tables
from simcore.verify.workers import check_blocked_sends, check_dependencies, check_one_at_a_time

__all__ = ["Rule", "Violation", "violations"]


def violations(scenario: Scenario, timeline: Timeline) -> list[Violation]:
    """Return every rule that a timeline breaks, with where and when; empty for a right one.

    Parameters
    ----------
    scenario : Scenario
        What was simulated.
    timeline : Timeline
        What is claimed to have happened.

    Returns
    -------
    list of Violation
        At most `simcore.verify.report.MAX_PER_RULE` sentences a rule, then how many more there
        are. When operations or tensors are missing, rules that need all of them are not judged.
    """
    plan, report = cell_plan(scenario), Report()
    if timeline.layout != plan.layout:
        report.add(Rule.LAYOUT, "the rows of the timeline are not those of the scenario")
        return report.violations
    tables = read_tables(plan, timeline, report)
    check_one_at_a_time(plan, timeline, report)
    if tables is not None:
        check_dependencies(plan, tables, report)
        check_channels(plan, tables, report)
        check_blocked_sends(plan, tables, timeline, report)
        if plan.schedule == "greedy":
            check_greedy(plan, tables, report)
        else:
            check_static(plan, tables, report)
        check_end(plan, tables, timeline, report)
    check_fills(scenario, timeline, report)
    return report.violations
