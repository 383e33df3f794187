"""Certificates about chains, made from what a method found: its boxes again, in exact numbers."""

from collections.abc import Iterable
from fractions import Fraction

from gough.checker.chain_check import ChainSpace, check_chain
from gough.checker.chain_proofs import ChainBound, ChainCertificate, ChainEmpty, ChainWitness
from gough.checker.chain_questions import ChainQuestion
from gough.checker.linear import NotProven
from gough.checker.of_tree import contradiction, links_of
from gough.evidence import LiftedTree


def chain_certificate(question: ChainQuestion, tree: LiftedTree, more: float = 0.0) -> ChainCertificate:
    """Nothing is consistent, if the boxes of the tree leave nothing; else everything lies in the box they end with.

    Each bound is the best double that its weights prove; it may differ from the method's in the last digits.

    Examples:
        >>> import numpy as np
        >>> from gough import Box
        >>> from gough.closure import Tolerances, certified_chain, quadratic_unknowns
        >>> from gough.checker import chain_question, check_chain
        >>> from gough.data import Poses
        >>> from gough.methods import LiftedHull
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (8, 3))
        >>> truth = quadratic_unknowns(printer, printer.nominal, 1)
        >>> poses, prior = Poses(p, None, printer.inverse(printer.nominal, p)), Box.around(truth, 0.1)
        >>> problem = certified_chain(printer, poses, 1, prior, Tolerances(1e-5, 1e-6))
        >>> question = chain_question(problem)
        >>> answer = LiftedHull(max_steps=2).estimate(problem)
        >>> certificate = chain_certificate(question, LiftedTree(answer.stats.stages))
        >>> certificate.kind, check_chain(certificate, question).holds
        ('ChainBound', True)
    """
    space = ChainSpace(question, more)
    links, box = links_of(space, tree, space.prior())
    proof = ChainEmpty(links) if box.is_empty else ChainBound(links)
    return ChainCertificate(question.digest(), question.chain, proof, more)


def empty_chain(question: ChainQuestion, tree: LiftedTree, more: float = 0.0) -> ChainCertificate:
    """Nothing is consistent, readings being uncertain by `more` than stated.

    Raises:
        NotProven: the evidence falls short in exact numbers.
    """
    links = contradiction(ChainSpace(question, more), tree)
    return ChainCertificate(question.digest(), question.chain, ChainEmpty(links), more)


def chain_witness(question: ChainQuestion, values: Iterable[Fraction], more: float = 0.0) -> ChainCertificate:
    """This chain fits.

    Raises:
        NotProven: it does not, in exact numbers.
    """
    certificate = ChainCertificate(question.digest(), question.chain, ChainWitness(tuple(values)), more)
    verdict = check_chain(certificate, question)
    if not verdict:
        raise NotProven(verdict.reason)
    return certificate
