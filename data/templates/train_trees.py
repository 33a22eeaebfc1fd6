#!/usr/bin/env python3
# A start to boost trees with.
{{>head}}
# Start it: python train.py --data data
# Stop it: press Ctrl+C; started again, it goes on from its last checkpoint.
"""Learns to foretell a column of a table from the others: a start to build on. --tiny tries it out in a second."""
import argparse
import glob
import json
import multiprocessing
import os
import signal
import socket
import time

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.dataset
{{#lightgbm}}
import lightgbm
{{/lightgbm}}
{{^lightgbm}}
import xgboost
{{/lightgbm}}

# Planned with {{model_name|comment}}, {{devices|word}} x {{device|comment}}.
{{#instead}}
# XGBoost does it here in place of that{{#lightgbm_planned}}: on GPUs and on several machines LightGBM's package needs more than pip{{/lightgbm_planned}}.
{{/instead}}
NODES, PER_NODE = {{nodes|word}}, {{per_node|word}}
GPU = {{#gpu}}True{{/gpu}}{{^gpu}}False{{/gpu}}
MOST_CLASSES = 20
{{#lightgbm}}
PARAMETERS = {"learning_rate": 0.1, "max_depth": {{tree_depth|word}}, "num_leaves": {{tree_leaves|word}}, "max_bin": {{tree_bins|word}}, "verbosity": -1}
{{/lightgbm}}
{{^lightgbm}}
PARAMETERS = {"max_depth": {{tree_depth|word}}, {{#leafwise}}"max_leaves": {{tree_leaves|word}}, "grow_policy": "lossguide", {{/leafwise}}"verbosity": 1,
              {{#forest}}"learning_rate": 1, "num_parallel_tree": {{trees_planned|word}}, "subsample": 0.8, "colsample_bynode": 0.8{{/forest}}{{^forest}}"learning_rate": 0.1{{/forest}},
              {{#exact}}"tree_method": "exact"{{/exact}}{{^exact}}"tree_method": "hist", "max_bin": {{tree_bins|word}}{{/exact}}}
{{/lightgbm}}


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="a table: a file in CSV or Parquet, or a folder of such files with the same columns")
    parser.add_argument("--target", help="the column to foretell; the last one where nothing is said")
    parser.add_argument("--kind", choices=["classes", "number"], help="what the target is; else it is told by its values")
    parser.add_argument("--validation", type=float, default=0.1, help="the part of the rows that is kept to judge by")
    parser.add_argument("--last", action="store_true", help="keep the last rows to judge by: for rows in order of time")
    parser.add_argument("--rounds", type=int, default={{#forest}}1{{/forest}}{{^forest}}{{trees_planned|word}}{{/forest}}, help="trees, one after the other, at most")
    parser.add_argument("--patience", type=int, default=50, help="stop where so many trees made nothing better; 0: never")
    parser.add_argument("--threads", type=int, default=0, help="of the processor; 0: as many as there are")
    parser.add_argument("--checkpoints", default="checkpoints", help="folder to save to and to go on from")
    parser.add_argument("--checkpoint-minutes", type=float, default={{checkpoint_minutes|word}})
    parser.add_argument("--nodes", type=int, default=NODES, help="machines that share the work")
    parser.add_argument("--per-node", type=int, default=PER_NODE, help="devices on each of them")
    parser.add_argument("--tiny", action="store_true", help="a small table that is made up, on this machine alone")
    return parser.parse_args()


# ------------------------------------------------------------------- the table

def open_table(path):
    """The files are read in parts: they need not fit into memory as text."""
    if path is None:
        raise SystemExit("Where is the table? --data FILE, or a folder.")
    files = sorted(glob.glob(os.path.join(glob.escape(path), "**"), recursive=True)) if os.path.isdir(path) else [path]
    parquet = [name for name in files if name.endswith((".parquet", ".pq"))]
    if parquet:
        return pyarrow.dataset.dataset(parquet, format="parquet")
    files = [name for name in files if ".csv" in os.path.basename(name) and os.path.isfile(name)]
    if not files:
        raise SystemExit(f"{path}: no file that ends in .csv or .parquet is there.")
    form = pyarrow.dataset.CsvFileFormat(read_options=pyarrow.csv.ReadOptions(block_size=1 << 24))
    # The kind of a column is told by its first rows; where they are whole numbers or empty, later ones may be more.
    fields = [field.with_type(pyarrow.float64()) if pyarrow.types.is_integer(field.type) else
              field.with_type(pyarrow.string()) if pyarrow.types.is_null(field.type) else field
              for field in pyarrow.dataset.dataset(files, format=form).schema]
    return pyarrow.dataset.dataset(files, format=form, schema=pyarrow.schema(fields))


def made_up():
    chance = numpy.random.default_rng(0)
    numbers = chance.normal(size=(4000, 4))
    towns = chance.choice(["Aachen", "Bern", "Cork"], 4000)
    bought = numbers[:, 0] + (towns == "Bern") + chance.normal(size=4000) / 2 > 0.5
    columns = {f"number {i}": numbers[:, i] for i in range(4)}
    return pyarrow.dataset.dataset(pyarrow.table({**columns, "town": towns, "bought": numpy.where(bought, "yes", "no")}))


class Codes(dict):
    """A number for each word, in the order in which they appear: all processes see the same order."""

    def __missing__(self, word):
        self[word] = len(self)
        return self[word]

    def of(self, column):
        column = column.cast(pyarrow.string()).dictionary_encode()
        codes = numpy.array([self[word] for word in column.dictionary.to_pylist()] + [numpy.nan], dtype=numpy.float32)
        return codes[column.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]


def is_text(kind):
    return pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_dictionary(kind) or pyarrow.types.is_boolean(kind)


def is_number(kind):
    return pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind)


def is_time(kind):
    return pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind)


def numbers_of(column):
    if is_time(column.type):
        column = column.cast(pyarrow.timestamp("s"), safe=False).cast(pyarrow.int64())
    return column.cast(pyarrow.float32(), safe=False).to_numpy(zero_copy_only=False)


def what_to_learn(table, target, kind):
    """The classes of the target, or None where it is a number."""
    column = table.to_table(columns=[target])[target]
    seen = pyarrow.compute.unique(column.drop_null())
    if is_text(column.type):
        return sorted(map(str, seen.to_pylist()))
    if not is_number(column.type):
        raise SystemExit(f"The column {target} holds {column.type}: numbers or words can be foretold.")
    values = sorted(value for value in map(float, seen.to_pylist()) if value == value)
    if kind is None:
        kind = "classes" if len(values) <= MOST_CLASSES and all(value.is_integer() for value in values) else "number"
    return values if kind == "classes" else None


class Rows:
    """Rows of this process alone; room is made for all at once."""

    def __init__(self, most, width):
        self.values, self.target, self.count = numpy.empty((most, width), numpy.float32), numpy.empty(most, numpy.float32), 0

    def add(self, values, target):
        self.values[self.count:self.count + len(target)], self.target[self.count:self.count + len(target)] = values, target
        self.count += len(target)

    def done(self):
        return self.values[:self.count], self.target[:self.count]


def read(args, rank, world):
    """Rows to learn from and to judge by, the names of the columns, and what stands for words."""
    table = made_up() if args.tiny else open_table(args.data)
    target = args.target or table.schema.names[-1]
    if target not in table.schema.names:
        raise SystemExit(f"There is no column {target}; there are: {', '.join(table.schema.names)}.")
    classes = what_to_learn(table, target, args.kind)
    kinds = {field.name: field.type for field in table.schema if field.name != target}
    names = [name for name, kind in kinds.items() if is_text(kind) or is_number(kind) or is_time(kind)]
    if rank == 0 and len(names) < len(kinds):
        print(f"left out, being neither numbers, words nor times: {', '.join(set(kinds) - set(names))}")
    codes = {name: Codes() for name in names if is_text(kinds[name])}
    rows, first = table.count_rows(), 0
    every = max(2, round(1 / args.validation))
    room = (rows // every // world + 2) * every
    learn, judge = Rows(room, len(names)), Rows(room, len(names))
    for batch in table.to_batches(columns=[*names, target]):
        index = numpy.arange(first, first + batch.num_rows)
        first += batch.num_rows
        values = numpy.empty((batch.num_rows, len(names)), numpy.float32)
        for i, name in enumerate(names):
            values[:, i] = codes[name].of(batch[name]) if name in codes else numbers_of(batch[name])
        wanted = batch[target]
        if classes is not None:
            words = pyarrow.array(classes, pyarrow.string() if is_text(wanted.type) else pyarrow.float64())
            wanted = pyarrow.compute.index_in(wanted.cast(words.type), value_set=words)
        wanted = numbers_of(wanted)
        mine = (index // every % world == rank) & ~numpy.isnan(wanted)
        judged = index >= rows * (1 - args.validation) if args.last else index % every == 0
        for part, chosen in ((learn, mine & ~judged), (judge, mine & judged)):
            part.add(values[chosen], wanted[chosen])
    if not learn.count or not judge.count:
        raise SystemExit(f"{rows} rows are too few, or have no {target}.")
    about = {"target": target, "classes": classes, "columns": names, "words": {name: list(code) for name, code in codes.items()}}
    if rank == 0:
        print(f"{rows} rows, {len(names)} columns; {target}: {'a number' if classes is None else f'{len(classes)} classes'}", flush=True)
    return learn.done(), judge.done(), about


# -------------------------------------------------------------------- learning

class Progress:
    """Says how it goes, saves whole or not at all, and knows when to stop."""

    def __init__(self, args, rank, rows):
        self.args, self.rank, self.rows = args, rank, rows
        self.path = os.path.join(args.checkpoints, "last.npz")
        self.best, self.best_round, self.rounds = numpy.inf, 0, 0
        self.saved = time.monotonic()
        self.stop = []
        os.makedirs(args.checkpoints, exist_ok=True)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop.append(True))

    def load(self):
        """The trees so far, or None."""
        if not os.path.exists(self.path):
            return None
        with numpy.load(self.path) as kept:
            self.best, self.best_round, self.rounds = float(kept["best"]), int(kept["best_round"]), int(kept["rounds"])
            if self.rank == 0:
                print(f"goes on from step {self.rounds}", flush=True)
            return kept["model"].tobytes()

    def save(self, model):
        self.saved = time.monotonic()
        if self.rank == 0:
            with open(self.path + ".new", "wb") as file:
                numpy.savez(file, model=numpy.frombuffer(model, numpy.uint8), best=self.best, best_round=self.best_round, rounds=self.rounds)
            os.replace(self.path + ".new", self.path)

    def begin(self):
        self.started, self.first = time.monotonic(), self.rounds

    def patient(self):
        return not self.args.patience or self.rounds - self.best_round < self.args.patience

    def after(self, write, learned, judged):
        """After each tree; whether it is time to end."""
        self.rounds += 1
        if judged < self.best:
            self.best, self.best_round = judged, self.rounds
        if self.rank == 0 and self.rounds % 10 == 0:
            rate = self.rows * (self.rounds - self.first) / (time.monotonic() - self.started)
            print(f"step {self.rounds} loss {learned:.5f} validation {judged:.5f} {rate:.1f} samples/s", flush=True)
        if time.monotonic() - self.saved >= self.args.checkpoint_minutes * 60:
            self.save(write())
        return bool(self.stop) or not self.patient()


{{#lightgbm}}
def learn(args, rank, world, device, learn_from, judge_by, about, progress):
    classes = about["classes"]
    parameters = {**PARAMETERS, "num_threads": args.threads,
                  **({"objective": "regression", "metric": "rmse"} if classes is None else {"objective": "binary", "metric": "binary_logloss"} if len(classes) == 2
                     else {"objective": "multiclass", "metric": "multi_logloss", "num_class": len(classes)})}
    words = [i for i, name in enumerate(about["columns"]) if name in about["words"]]
    table = lightgbm.Dataset(*learn_from, feature_name=[f"f{i}" for i in range(len(about["columns"]))], categorical_feature=words,
                             params={"max_bin": PARAMETERS["max_bin"], "verbosity": -1}, free_raw_data=False)
    judged = lightgbm.Dataset(*judge_by, reference=table, free_raw_data=False)
    before = progress.load()
    model = lightgbm.Booster(model_str=before.decode()) if before is not None else None
    progress.begin()

    def follow(now):
        score = {name: value for name, _, value, _ in now.evaluation_result_list}
        if progress.after(lambda: now.model.model_to_string(num_iteration=-1).encode(), score["learn"], score["judge"]):
            raise lightgbm.callback.EarlyStopException(progress.best_round - 1, now.evaluation_result_list)

    if progress.rounds < args.rounds and progress.patient():
        model = lightgbm.train(parameters, table, args.rounds - progress.rounds, valid_sets=[table, judged], valid_names=["learn", "judge"],
                               init_model=model, callbacks=[follow], keep_training_booster=True)
    progress.save(model.model_to_string(num_iteration=-1).encode())
    path = os.path.join(args.checkpoints, "model.txt")
    model.save_model(path, num_iteration=progress.best_round)
    return path
{{/lightgbm}}
{{^lightgbm}}
class Follow(xgboost.callback.TrainingCallback):
    def __init__(self, progress, metric):
        super().__init__()
        self.progress, self.metric = progress, metric

    def after_iteration(self, model, epoch, evals_log):
        end = self.progress.after(lambda: model.save_raw("ubj"), evals_log["learn"][self.metric][-1], evals_log["judge"][self.metric][-1])
        # What one process was told, all do after the same tree.
        return bool(xgboost.collective.allreduce(numpy.array([end], numpy.int32), xgboost.collective.Op.MAX)[0])


def learn(args, rank, world, device, learn_from, judge_by, about, progress):
    classes = about["classes"]
    objective, metric = ("reg:squarederror", "rmse") if classes is None else ("binary:logistic", "logloss") if len(classes) == 2 else ("multi:softprob", "mlogloss")
    parameters = {**PARAMETERS, "device": device, "nthread": args.threads, "objective": objective, "eval_metric": metric,
                  **({"num_class": len(classes)} if metric == "mlogloss" else {})}
{{#exact}}
    # The exact method takes what stands for a word as a number.
    about_columns = {"nthread": args.threads}
    table, judged = xgboost.DMatrix(*learn_from, **about_columns), xgboost.DMatrix(*judge_by, **about_columns)
{{/exact}}
{{^exact}}
    about_columns = {"feature_types": ["c" if name in about["words"] else "q" for name in about["columns"]], "enable_categorical": True,
                     "nthread": args.threads}
    table = xgboost.QuantileDMatrix(*learn_from, max_bin=PARAMETERS["max_bin"], **about_columns)
    judged = xgboost.QuantileDMatrix(*judge_by, ref=table, max_bin=PARAMETERS["max_bin"], **about_columns)
{{/exact}}
    before, model = progress.load(), None
    if before is not None:
        model = xgboost.Booster(parameters)
        model.load_model(bytearray(before))
    progress.begin()
    if progress.rounds < args.rounds and progress.patient():
        model = xgboost.train(parameters, table, args.rounds - progress.rounds, evals=[(table, "learn"), (judged, "judge")], xgb_model=model,
                              verbose_eval=False, callbacks=[Follow(progress, metric)])
    progress.save(model.save_raw("ubj"))
    path = os.path.join(args.checkpoints, "model.ubj")
    if rank == 0:
        model[:progress.best_round].save_model(path)
    return path
{{/lightgbm}}


# -------------------------------------------------------------------- starting

def device_of(local):
    if not GPU:
        return "cpu"
    if glob.glob("/dev/nvidia[0-9]*") or os.path.exists("/dev/dxg"):
        return f"cuda:{local}"
    print("no GPU found: the processor does it, which may take long", flush=True)
    return "cpu"


def work(args, local, node, world):
    rank = node * args.per_node + local
    learn_from, judge_by, about = read(args, rank, world)
    progress = Progress(args, rank, len(learn_from[1]) * world)
    path = learn(args, rank, world, device_of(local), learn_from, judge_by, about, progress)
    if rank == 0:
        with open(os.path.join(args.checkpoints, "columns.json"), "w", encoding="utf-8") as file:
            json.dump(about, file, ensure_ascii=False, indent=1)
        print(f"{progress.rounds} trees, the best after {progress.best_round}: validation {progress.best:.5f}; saved as {path}", flush=True)


{{^lightgbm}}
PORT = int(os.environ.get("MASTER_PORT", 29500))


def patiently(act):
    """The port of a run that has just ended, or the first machine, may take a while."""
    for _ in range(300):
        try:
            return act()
        except xgboost.core.XGBoostError as error:
            last = error
            time.sleep(2)
    raise last


def start_tracker(address, nodes, world):
    """Who knows where all processes are; the port that it listens on."""
    tracker = patiently(lambda: xgboost.RabitTracker(host_ip=address, n_workers=world, port=PORT if nodes > 1 else 0, sortby="task"))
    tracker.start()
    return tracker, tracker.worker_args()["dmlc_tracker_port"]


def work_together(args, local, node, world, address, port):
    patiently(lambda: xgboost.collective.init(dmlc_communicator="rabit", dmlc_tracker_uri=address, dmlc_tracker_port=port,
                                              dmlc_task_id=f"{node * args.per_node + local:06}"))
    work(args, local, node, world)
    xgboost.collective.finalize()


{{/lightgbm}}
def which_node(nodes):
    """Which of several machines this is: each cluster has a name of its own for it."""
    if nodes == 1:
        return 0, "127.0.0.1"
    known = [os.environ[name] for name in ("NODE_RANK", "SLURM_NODEID", "SKYPILOT_NODE_RANK", "JOB_COMPLETION_INDEX") if os.environ.get(name)]
    if not known or not os.environ.get("MASTER_ADDR"):
        raise SystemExit(f"{nodes} machines share this. Start it on each with NODE_RANK, 0 on the first, and MASTER_ADDR, the address of the first; "
                         "or on one alone with --nodes 1.")
    return int(known[0]), socket.gethostbyname(os.environ["MASTER_ADDR"])


def main():
    args = options()
    if args.tiny:
        args.nodes = 1
    world = args.nodes * args.per_node
    node, address = which_node(args.nodes)
    args.threads = args.threads or max(1, len(os.sched_getaffinity(0)) // args.per_node)
    if world == 1:
        return work(args, 0, 0, 1)
{{#lightgbm}}
    raise SystemExit("This start uses one device: --nodes 1 --per-node 1.")
{{/lightgbm}}
{{^lightgbm}}
    tracker, port = start_tracker(address, args.nodes, world) if node == 0 else (None, PORT)
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=work_together, args=(args, local, node, world, address, port)) for local in range(args.per_node)]
    for process in processes:
        process.start()
    # Who is told to stop tells the others; from the keyboard all are told at once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: [process.terminate() for process in processes])
    for process in processes:
        process.join()
    raise SystemExit(max(abs(process.exitcode) for process in processes))
{{/lightgbm}}


if __name__ == "__main__":
    main()
