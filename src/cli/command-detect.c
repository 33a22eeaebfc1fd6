/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "qm-cli.h"

static void
print_device (const QmProbedDevice *device)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *memory = device->memory_bytes > 0 ? qm_format_bytes (words, device->memory_bytes) : g_strdup (_("unknown"));

  g_print ("%s  [%s]\n", device->name != NULL ? device->name : device->id, device->id);
  g_print ("  %-*s %s\n", QM_COLUMN (10, _("Memory")), memory);
  if (device->driver != NULL)
    g_print ("  %-*s %s\n", QM_COLUMN (10, _("Driver")), device->driver);
  if (device->link != NULL)
    g_print ("  %-*s %s\n", QM_COLUMN (10, _("Link")), device->link);
  if (device->power_limit_watts > 0)
    {
      g_autofree char *limit = g_strdup_printf (_("%.0f W"), device->power_limit_watts);

      g_print ("  %-*s %s\n", QM_COLUMN (10, _("Power limit")), limit);
    }
  for (guint i = 0; device->unknown != NULL && i < device->unknown->len; i++)
    {
      const QmUnknown *unknown = g_ptr_array_index (device->unknown, i);

      g_print ("  %-*s %s: %s\n", QM_COLUMN (10, _("Unknown")), unknown->field, unknown->reason);
    }
  if (device->remedy != NULL)
    g_print ("  → %s\n", device->remedy);
}

static void
print (QmMachine *machine)
{
  const QmWords *words = qm_language_get_words ();
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  g_autofree char *total = qm_format_bytes (words, memory->total_bytes);
  g_autofree char *available = qm_format_bytes (words, memory->available_bytes);

  for (guint i = 0; i < qm_machine_n_devices (machine); i++)
    print_device (qm_machine_device (machine, i));
  if (qm_machine_n_devices (machine) == 0)
    g_print ("%s\n", _("No GPU or NPU was found."));
  g_print ("%s\n", cpu->model != NULL ? cpu->model : _("Processor"));
  g_print ("  %-*s %d\n", QM_COLUMN (10, _("Cores")), cpu->cores);
  /* Translators: the memory beside the processor; "Memory" alone is mostly that of a graphics card */
  g_print ("  %-*s %s, %s\n", QM_COLUMN (10, C_("processor", "Memory")), total, available);
}

/**
 * qm_command_detect:
 * @cli: the program
 * @arguments: `detect`
 * @error: return location for an error
 *
 * Prints what this computer has. `QM_SYSROOT` names a captured tree to read
 * instead; `--capture DIR` makes one.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_detect (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *folder = NULL;
  gboolean wake = FALSE;
  const GOptionEntry entries[] = {
    { "capture", 0, 0, G_OPTION_ARG_FILENAME, &folder, N_("Copy what is read into this folder, for a bug report"), "DIR" },
    { "wake", 0, 0, G_OPTION_ARG_NONE, &wake, N_("Wake cards that sleep, and measure them"), NULL },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  QmMachine *machine;

  if (!qm_cli_parse (cli, &left, entries, 0, 0, error))
    return FALSE;
  if (folder != NULL && !qm_machine_capture (g_getenv ("QM_SYSROOT"), folder, error))
    return FALSE;
  if (wake && qm_cli_get_catalog (cli, error) != NULL)
    cli->machine = qm_machine_probe_waking (cli->catalog, g_getenv ("QM_SYSROOT"), NULL);
  machine = qm_cli_get_machine (cli, error);
  if (machine == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_machine_to_json (machine);

      qm_cli_print_json (node, TRUE);
    }
  else
    print (machine);

  return TRUE;
}
