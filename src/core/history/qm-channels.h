/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Names of what is measured over time; each ends in its unit, shares have none
 * and run from 0 to 1. They stand in files: names are added, never changed. */

/* the computer */
#define QM_CHANNEL_CPU              "cpu_utilization"
#define QM_CHANNEL_CPU_BUSIEST      "cpu_busiest_utilization"     /* of its cores */
#define QM_CHANNEL_CPU_WAITING      "cpu_waiting"                 /* idle, and something waits for storage */
#define QM_CHANNEL_CPU_STOLEN       "cpu_stolen"                  /* the host gave it to others while there was work */
#define QM_CHANNEL_CPU_PRESSURE     "cpu_pressure"                /* something could run, and waited for a processor */
#define QM_CHANNEL_MEMORY           "memory_bytes"                /* in use */
#define QM_CHANNEL_MEMORY_TOTAL     "memory_total_bytes"
#define QM_CHANNEL_SWAP             "swap_bytes_per_second"       /* in and out */
#define QM_CHANNEL_DISK_READ        "disk_read_bytes_per_second"
#define QM_CHANNEL_DISK_WRITE       "disk_write_bytes_per_second"
#define QM_CHANNEL_DISK_BUSY        "disk_utilization"            /* of the busiest */
#define QM_CHANNEL_NETWORK_RECEIVE  "network_receive_bytes_per_second"
#define QM_CHANNEL_NETWORK_SEND     "network_send_bytes_per_second"

/* the processes of a run */
#define QM_CHANNEL_PROCESS_CPU      "process_cpu_cores"           /* 2.5: two and a half cores are busy */
#define QM_CHANNEL_PROCESS_MEMORY   "process_memory_bytes"
#define QM_CHANNEL_PROCESS_READ     "process_read_bytes_per_second"
#define QM_CHANNEL_PROCESS_WRITE    "process_write_bytes_per_second"
#define QM_CHANNEL_PROCESS_WAITING  "process_waiting"             /* share of the time in which one waits for storage */
#define QM_CHANNEL_PROCESS_FAULTS   "process_major_faults_per_second"

/* what it says of itself */
#define QM_CHANNEL_STEP             "step"
#define QM_CHANNEL_LOSS             "loss"
#define QM_CHANNEL_STEPS            "steps_per_second"
#define QM_CHANNEL_SAMPLES          "samples_per_second"
#define QM_CHANNEL_TOKENS           "tokens_per_second"

/* of a GPU: "gpu0_" and one of these */
#define QM_CHANNEL_GPU_BUSY         "utilization"
#define QM_CHANNEL_GPU_MEMORY       "memory_bytes"
#define QM_CHANNEL_GPU_MEMORY_TOTAL "memory_total_bytes"
#define QM_CHANNEL_GPU_MEMORY_BUSY  "memory_utilization"          /* of the path to memory, not of its size */
#define QM_CHANNEL_GPU_POWER        "power_watts"
#define QM_CHANNEL_GPU_POWER_LIMIT  "power_limit_watts"
#define QM_CHANNEL_GPU_TEMPERATURE  "temperature_celsius"
#define QM_CHANNEL_GPU_CLOCK        "clock_hertz"
#define QM_CHANNEL_GPU_CLOCK_MOST   "clock_most_hertz"
#define QM_CHANNEL_GPU_THROTTLED    "throttled"                   /* sum of the bits below */
#define QM_CHANNEL_GPU_PCIE_RECEIVE "pcie_receive_bytes_per_second"
#define QM_CHANNEL_GPU_PCIE_SEND    "pcie_send_bytes_per_second"

#define QM_THROTTLED_POWER   1
#define QM_THROTTLED_THERMAL 2
#define QM_THROTTLED_OTHER   4

/* Room for "gpu63_pcie_receive_bytes_per_second". */
#define QM_CHANNEL_SIZE 48
#define QM_MAX_GPUS 64

const char *qm_channel_of_gpu (char       *name,
                               int         gpu,
                               const char *what);
int         qm_throttled_from_reasons (guint64 reasons);

G_END_DECLS
