# SPDX-License-Identifier: GPL-3.0-or-later
"""The starter that boosts trees, over a table that is made here."""
import json
import os
import random
import re
import sys

from exported import export, run
from killed import start_and_kill

TREES = {"task": "tabular", "activity": "train", "tabular": {"trees": 60, "depth": 5}}


def write_house_prices(path):
    """Whole numbers first and others later, words, gaps: as tables of people are."""
    generator = random.Random(5)
    with open(path, "w", encoding="utf-8") as file:
        file.write("rooms,area,town,built,price\n")
        for row in range(6000):
            rooms, town = generator.randint(1, 6), generator.choice(["Aachen", "Bern", "", "Cork"])
            area = rooms * 20 + generator.randint(0, 30) + (0.5 if row > 4000 else 0)
            price = area * (3 if town == "Bern" else 2) + 10 * rooms + generator.gauss(0, 5)
            file.write(f"{rooms},{area if row % 7 else ''},{town},{generator.randint(1900, 2020)}-05-01,{price:.2f}\n")


def told_by_hand(folder, path, word):
    """The error of the saved model on the rows that were kept to judge by, from the file itself."""
    import datetime

    import numpy

    with open(os.path.join(folder, "checkpoints", "columns.json"), encoding="utf-8") as file:
        about = json.load(file)
    rows, prices = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(list(file)[1:]):
            rooms, area, town, built, price = line.strip().split(",")
            day = datetime.datetime.fromisoformat(built).replace(tzinfo=datetime.timezone.utc).timestamp()
            if number % 10 == 0:
                rows.append([float(rooms), float(area or "nan"), about["words"]["town"].index(town) if town in about["words"]["town"] else float("nan"), day])
                prices.append(float(price))
    assert about["columns"] == ["rooms", "area", "town", "built"] and about["target"] == "price", about
    if word == "lightgbm":
        import lightgbm

        told = lightgbm.Booster(model_file=os.path.join(folder, "checkpoints", "model.txt")).predict(numpy.array(rows, numpy.float32))
    else:
        import xgboost

        booster = xgboost.Booster(model_file=os.path.join(folder, "checkpoints", "model.ubj"))
        told = booster.predict(xgboost.DMatrix(numpy.array(rows, numpy.float32), feature_types=["q", "q", "c", "q"], enable_categorical=True))
    prices = numpy.array(prices)
    return float(numpy.sqrt(((told - prices) ** 2).mean())), float(prices.std())


def trees_are_boosted():
    """A table in CSV with words and gaps is learnt; what the script says is what its saved model does; it stops where nothing gets better."""
    write_house_prices("prices.csv")
    for word in ("xgboost", "lightgbm"):
        plan = {**TREES, "model": {"id": word}, "configuration": {"device": "epyc-9654", "devices": 1}}
        folder = os.path.abspath(export(f"trees-{word}", plan, "script"))
        result = run(sys.executable, "train.py", "--data", os.path.abspath("prices.csv"), "--threads", "1", cwd=folder)
        assert result.returncode == 0 and "price: a number" in result.stdout, (result.stdout, result.stderr[-1500:])
        said = float(re.search(r"validation ([0-9.]+); saved", result.stdout).group(1))
        error, spread = told_by_hand(folder, "prices.csv", word)
        assert abs(error - said) < 1e-3 * said and error < spread / 4, (word, error, said, spread)
    folder = os.path.abspath("trees-xgboost-script")
    patient = run(sys.executable, "train.py", "--data", os.path.abspath("prices.csv"), "--rounds", "100000", "--patience", "20", "--checkpoints", "p",
                  "--threads", "1", cwd=folder)
    trees, best = map(int, re.search(r"(\d+) trees, the best after (\d+)", patient.stdout).groups())
    assert trees == best + 20, patient.stdout


def trees_go_on():
    """Killed with SIGKILL it goes on, and stopped on the way it is as good as unbroken; two processes share a folder of Parquet files."""
    import pyarrow.csv
    import pyarrow.parquet

    write_house_prices("prices.csv")
    table = pyarrow.csv.read_csv("prices.csv")
    os.makedirs("parts")
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 2000, 2000), f"parts/{part}.parquet")
    for word in ("xgboost", "lightgbm"):
        folder = os.path.abspath(export(f"go-{word}", {**TREES, "model": {"id": word}, "configuration": {"device": "epyc-9654", "devices": 1}}, "script"))
        command = [sys.executable, "train.py", "--data", os.path.abspath("parts"), "--patience", "0", "--threads", "1"]
        start_and_kill([*command, "--checkpoint-minutes", "0.01"], folder, "checkpoints/last.npz", ("--rounds", "1000000"))
        again = run(*command, "--rounds", "1", cwd=folder)
        assert again.returncode == 0 and re.search(r"goes on from step [1-9]", again.stdout), (again.stdout, again.stderr[-1500:])
        ends = {}
        for name, parts in {"whole": [30], "broken": [7, 30]}.items():
            for rounds in parts:
                result = run(*command, "--rounds", str(rounds), "--checkpoints", name, cwd=folder)
                assert result.returncode == 0, result.stderr[-1500:]
            ends[name] = float(re.search(r"30 trees, .* validation ([0-9.]+);", result.stdout).group(1))
        assert abs(ends["whole"] - ends["broken"]) < 1e-3 * ends["whole"], (word, ends)
    folder = os.path.abspath("go-xgboost-script")
    for rounds in (20, 40):
        both = run(sys.executable, "train.py", "--data", os.path.abspath("parts"), "--per-node", "2", "--rounds", str(rounds), "--checkpoints", "both",
                   "--threads", "1", cwd=folder)
        assert both.returncode == 0 and f"\n{rounds} trees" in both.stdout, (both.stdout, both.stderr[-1500:])
    assert "goes on from step 20" in both.stdout, both.stdout
