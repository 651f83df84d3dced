"""Writes reference.json: rankings with labels, and what other software measures of them. See README.md."""

import json
import random

import numpy as np
from ranx.metrics import hit_rate, ndcg, recall, reciprocal_rank
from scipy.stats import bootstrap
from sklearn.metrics import ndcg_score, roc_auc_score

DEPTHS = (1, 3, 5, 10, 20)
TOOLS = 40
random.seed(7)


def case(n):
    """A ranking of some of 40 tools, and labels. Every third has grades, every fourth repeats tools that it has ranked."""
    wanted = random.sample(range(TOOLS), random.choice((1, 1, 2, 3, 5, 14)))
    grades = {t: random.choice((1, 2, 3)) if n % 3 == 0 else 1 for t in wanted}
    ranked = random.sample(range(TOOLS), random.choice((0, 1, 4, 12, 20, 30)))
    if n % 4 == 0:
        for _ in range(5):
            if ranked:
                ranked.insert(random.randrange(len(ranked) + 1), random.choice(ranked))
    # Scores fall from place to place; in every fifth they are all the same, and the order stands as it is given.
    scores = [0.5 if n % 5 == 0 else 1 - i / 100 for i in range(len(ranked))]
    return grades, ranked, scores


def once(ranked):
    """The first mention of each tool; a repeat holds its place as a tool that nobody wants."""
    seen, out = set(), []
    for i, t in enumerate(ranked):
        out.append(t if t not in seen else TOOLS + i)
        seen.add(t)
    return out


def measured(grades, ranked):
    if not ranked:  # ranx has no figures for an answer of nothing
        return {m: 0.0 for m in ["mrr", "ndcg@10"] + [f"{m}@{k}" for m in ("recall", "hit") for k in DEPTHS]}
    best = sorted(grades.items(), key=lambda g: -g[1])
    qrels = [np.array(best, dtype=float)]
    run = [np.array([[t, -i] for i, t in enumerate(once(ranked))], dtype=float)]
    out = {"mrr": reciprocal_rank(qrels, run)[0], "ndcg@10": ndcg(qrels, run, 10)[0]}
    for k in DEPTHS:
        out[f"recall@{k}"] = recall(qrels, run, k)[0]
        out[f"hit@{k}"] = hit_rate(qrels, run, k)[0]
    return {m: float(v) for m, v in out.items()}


def sklearn_ndcg(grades, ranked):
    """The same by another hand, for rankings that are long enough and repeat nothing."""
    if len(ranked) < 10 or len(set(ranked)) < len(ranked):
        return None
    truth = [[grades.get(t, 0) for t in range(TOOLS)]]
    score = [[TOOLS - ranked.index(t) if t in ranked else -t for t in range(TOOLS)]]
    return float(ndcg_score(truth, score, k=10, ignore_ties=True))


def aurocs():
    for n in range(12):
        high = [random.randrange(9) / 8 for _ in range(random.randrange(1, 30))]
        low = [random.randrange(9) / 8 for _ in range(random.randrange(1, 30))]
        yield {"high": high, "low": low, "auroc": float(roc_auc_score([1] * len(high) + [0] * len(low), high + low))}


def intervals():
    for n in (25, 80, 400):
        a = [random.choice((1, 1, 1, 2, 3, 0)) for _ in range(n)]
        b = [random.choice((1, 1, 1, 1, 2, 5)) for _ in range(n)]
        gain = [(1 / y if y else 0) - (1 / x if x else 0) for x, y in zip(a, b)]
        ci = bootstrap((gain,), np.mean, n_resamples=200_000, batch=1000, method="percentile", random_state=1).confidence_interval
        yield {"a": a, "b": b, "low": float(ci.low), "high": float(ci.high)}


def main():
    cases = []
    for n in range(60):
        grades, ranked, scores = case(n)
        one = {"grades": {f"t{t}": g for t, g in grades.items()}, "ranked": [f"t{t}" for t in ranked], "scores": scores}
        one["want"] = measured(grades, ranked)
        if (v := sklearn_ndcg(grades, ranked)) is not None:
            one["sklearnNDCG"] = v
        cases.append(one)
    with open("reference.json", "w") as f:
        f.write('{"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + '\n],\n"aurocs": [\n')
        f.write(",\n".join(json.dumps(a) for a in aurocs()) + '\n],\n"intervals": [\n')
        f.write(",\n".join(json.dumps(i) for i in intervals()) + "\n]}\n")


main()
