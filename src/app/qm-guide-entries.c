/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "qm-guide.h"

static const QmGuideEntry how[] = {
  { "estimate", N_("How does an answer come about?"), N_("Your answers, the shape of the model, and the facts of each device"),
    N_("The model is taken apart: how many numbers it holds, and how many it has to compute and to move for each word or picture. Each "
       "device of the catalog has a memory, a speed of arithmetic and a speed of memory. Quartermaster works out for every device, number "
       "of devices and way of sharing the job what memory it takes, how long it runs and what it costs, leaves out what breaks your "
       "limits, and puts the rest in order.") },
  { "range", N_("How sure is a figure?"), N_("A range holds eight runs in ten"),
    N_("No figure here is exact. Beside each stands a range that is meant to hold eight of ten real runs: one in ten lies below it, one in "
       "ten above. Ranges are narrow where many runs like yours were measured, and wide where none was. The width comes from the errors on "
       "published measurements that the estimate was not fitted to.") },
  { "own-runs", N_("How does it become surer?"), N_("By runs of your own, on the page History"),
    N_("Record a run on your machine, or import its log. What was measured stands beside what was predicted, and later estimates near that "
       "run follow it: first those of the same job on the same device, then those of similar ones. The page History says which two runs "
       "would teach most.") },
  { "choice", N_("How is the best one chosen?"), N_("First your limits, then what matters most to you"),
    N_("What breaks a limit of yours is never chosen. Of the rest the one with the best balance of money, time and quality wins, or the "
       "cheapest, or the fastest, as you asked. A machine that is harder to get or to set up has to be clearly better. A dearer choice is "
       "taken only where it gains enough: twice the money for a hundredth of the quality is ruled out.") },
  { "prices", N_("Where do prices come from?"), N_("Dated lists; nothing is fetched unless you ask"),
    N_("Each price has a date and a source, shown with it. Prices change often: look at the provider's own page before you order. Newer "
       "lists can be imported from a file, or fetched when you ask for it.") },
  { NULL }
};

static const QmGuideEntry model[] = {
  { "parameters", N_("Parameters, weights"), N_("The numbers that a model has learnt"),
    N_("A model is a large table of numbers. “7 B” means seven billion of them. Stored in 16 bits each takes two bytes, so such a model "
       "takes about 13 GiB before it does anything.") },
  { "token", N_("Token"), N_("A piece of a word"),
    N_("Language models read and write in pieces of words. A token is about three quarters of an English word; a page of text is about "
       "500 tokens. Chinese takes about one token for each character or two.") },
  { "context", N_("Context"), N_("How much text a model sees at once"),
    N_("Question, documents and answer together must fit into the context, counted in tokens. Longer contexts take more memory for each "
       "person who asks.") },
  { "kv-cache", N_("KV cache"), N_("What a model remembers of a conversation"),
    N_("For each token that it has read, a language model keeps some numbers, so that it need not read it again. This memory grows with the "
       "length of the conversation and with the number of people who ask at the same time.") },
  { "quantisation", N_("Precision, quantisation"), N_("Fewer bits for each number"),
    N_("Weights can be stored in 16, 8 or 4 bits. Half the bits take half the memory, and writing is faster, for a small loss of quality: "
       "hardly any at 8 bits, about one to two points of a hundred at 4 bits, more for small models.") },
  { "moe", N_("Mixture of experts"), N_("A model of which each token meets only a part"),
    N_("All its parameters must lie in memory, but only a few are used for each token. So it needs the memory of a large model, and runs "
       "as fast as a small one.") },
  { NULL }
};

static const QmGuideEntry training[] = {
  { "fine-tuning", N_("Training and fine-tuning"), N_("From nothing, or from a finished model"),
    N_("Training from scratch takes very much data and time; hardly anybody needs it. Fine-tuning goes on with a finished model and your own "
       "examples, in hours instead of months.") },
  { "lora", N_("LoRA, QLoRA"), N_("A small add-on is trained instead of the whole model"),
    N_("The model stays as it is and a small add-on learns beside it. That needs far less memory than training all weights, for nearly the "
       "same quality. QLoRA also keeps the model in 4 bits: still less memory, somewhat slower.") },
  { "optimiser", N_("Gradients and optimiser"), N_("What training keeps for each number that it changes"),
    N_("To change a weight, training keeps its gradient and the state of the optimiser: usually 12 to 16 bytes for each parameter, many "
       "times the weight itself. That is why training all weights takes so much more memory than running the model.") },
  { "activations", N_("Activations"), N_("Intermediate results that training needs again"),
    N_("While it computes, training keeps intermediate results of every layer. They grow with the batch and the length of the examples. "
       "Recomputing them instead (activation checkpointing) saves most of that memory, for about a third more time.") },
  { "batch", N_("Batch, micro-batch, accumulation"), N_("How many examples are worked on together"),
    N_("A larger batch uses a GPU better, and takes more memory. Where it does not fit, it is cut into micro-batches, one after the other, "
       "and their gradients are added up (accumulated): the result is the same.") },
  { "epoch", N_("Epoch"), N_("Once through all data"),
    N_("Fine-tuning usually goes through the data one to three times. More often makes a model learn by heart.") },
  { "checkpoint", N_("Checkpoint"), N_("A saved state to go on from"),
    N_("Training saves its state from time to time. When the machine stops, at most the work since the last checkpoint is lost.") },
  { NULL }
};

static const QmGuideEntry hardware[] = {
  { "gib", N_("GiB and GB"), N_("Memory is counted in GiB, disks and files in GB"),
    N_("A GiB is 1,073,741,824 bytes, a GB a thousand million: 7 % less. Device memory is shown in GiB, as drivers report it, and a little "
       "less than the name of a card says can be used.") },
  { "headroom", N_("Headroom"), N_("Memory that stays free, usually a fifth"),
    N_("No estimate sees everything: longer examples, another version of a library, other programs. A job that fills a device to the last "
       "byte will sooner or later end “out of memory”.") },
  { "bound", N_("What limits the speed"), N_("Arithmetic, memory, links, or loading data"),
    N_("A job is as fast as its slowest part. Training mostly waits for arithmetic, writing answers for the memory of the device, many "
       "devices for the links between them, and pictures sometimes for the disk. Only more of what limits makes it faster.") },
  { "scaling", N_("Why are two devices not twice as fast?"), N_("They have to exchange what they learnt"),
    N_("After each step devices add up their gradients. That takes time, the more the slower the links between them are. Starting up does "
       "not get faster at all. So each further device gains less than the one before.") },
  { "ratios", N_("How many times as fast is one than the other?"), N_("What others published, to hold an answer against"),
    N_("Articles give such ratios: BERT-large trains 2.3 times as fast on a TPU v3-8 as on eight V100; a model of the size of GPT-3 3.2 times "
       "as fast on 512 cores of TPU v4 as on the A100 cluster beside it; for much inference a T4 gives the most for its money. They hold for "
       "the software and the precision of then: the first only where the V100 compute in 32 bits. Answers here are worked out for your job "
       "and do not use them. Sources: the articles that this program was founded on, without their own measurements.") },
  { "sharding", N_("Sharding, FSDP, ZeRO, tensor parallel"), N_("Ways to share one job among devices"),
    N_("Where a model does not fit one device, each holds a part. Sharding (FSDP, ZeRO) gathers the parts when they are needed; tensor "
       "parallelism computes each layer together and wants fast links.") },
  { "offload", N_("Offloading"), N_("Parts lie in the memory of the computer, or on its drive"),
    N_("What does not fit on the device can wait in the main memory. It has to come over a slower way each time: it works, but takes several "
       "times as long.") },
  { "spot", N_("Spot machines"), N_("Much cheaper, but may be taken away"),
    N_("Providers sell what they have over for a third to two thirds less, and take it back at short notice. With checkpoints the job goes "
       "on somewhere else. The work that is lost and the time to start again are counted in the cost shown.") },
  { NULL }
};

static const QmGuideEntry serving[] = {
  { "latency", N_("First token, tokens per second"), N_("How long people wait, and how fast the answer is written"),
    N_("The time to the first token is how long somebody looks at an empty line. After it about ten tokens a second are as fast as most "
       "people read.") },
  { "p99", N_("The slowest one percent (p99)"), N_("What one in a hundred requests waits"),
    N_("When many people ask at the same moment, some wait. The average hides them; the slowest one percent shows what the unlucky ones "
       "see. It is found by simulating the requests of the busiest hour.") },
  { "replicas", N_("Replicas"), N_("Copies of the model that share the load"),
    N_("One machine serves so many people at once. More copies serve more people, and one may fail without anybody noticing.") },
  { NULL }
};

static const QmGuidePart parts[] = {
  { N_("The answer"), how }, { N_("Models"), model }, { N_("Training"), training }, { N_("Serving"), serving }, { N_("Hardware"), hardware },
  { NULL }
};

/**
 * qm_guide_get_parts:
 *
 * Returns: (transfer none) (array zero-terminated=1): all of the guide, as
 *   messages to translate
 */
const QmGuidePart *
qm_guide_get_parts (void)
{
  return parts;
}
