/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-ladder.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-cli.h"

static const char *
tier_words (int tier)
{
  return tier == 1 ? _("Change a setting") : tier == 2 ? _("Trade time or exactness for memory") : _("Run it differently");
}

static void
print_ladder (const QmLadder *ladder,
              const QmDevice *device)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *need = qm_format_bytes (words, ladder->planned.memory.need.p50);
  g_autofree char *usable = qm_format_bytes (words, ladder->planned.memory.usable_bytes);
  int tier = 0;

  /* Translators: amount of memory, name of a device, amount of memory */
  g_print (_("The plan needs %s on each %s, which has %s.\n"), need, device->name, usable);
  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (ladder->rungs, QmRung, i);
      g_autofree char *text = qm_message_get_text (rung->message, words);
      g_autofree char *result = qm_phrase_rung (words, rung);

      if (rung->tier != tier)
        g_print ("\n%d. %s\n", rung->tier, tier_words (rung->tier));
      tier = rung->tier;
      g_print ("  %s %s: %s\n", rung->state == QM_RUNG_TAKEN ? "✓" : " ", text, result);
    }
  g_print ("\n%s\n", ladder->fits ? _("With the marked changes it fits.") : _("Even so it does not fit: take a smaller model or a larger device."));
}

/* The device that the plan names, else the first of this computer. */
static const QmDevice *
find_device (QmCli            *cli,
             const QmResolved *resolved,
             GError          **error)
{
  const char *id = resolved->plan->configuration.device;
  const QmDevice *device = id[0] != '\0' ? qm_catalog_find_device (cli->catalog, id) : NULL;
  QmHere here = { 0 };

  if (device != NULL)
    return device;
  if (id[0] != '\0')
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE,
                   _("configuration.device: no device \"%s\" is in the catalog; the nearest is \"%s\""), id,
                   qm_catalog_nearest_id (cli->catalog, "device", id));
      return NULL;
    }

  if (qm_cli_get_machine (cli, error) == NULL)
    return NULL;
  qm_machine_get_here (cli->machine, &here);
  for (int i = 0; i < here.n_devices && device == NULL; i++)
    device = here.devices[i];
  if (device == NULL)
    g_set_error_literal (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING,
                         _("configuration.device: is missing, and this computer has no GPU of the catalog; name a device"));

  return device;
}

/**
 * qm_command_diagnose:
 * @cli: the program
 * @arguments: `diagnose --oom PLAN`
 * @error: return location for an error
 *
 * Prints how the plan can be made to fit into the memory of its device.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_diagnose (QmCli   *cli,
                     GStrv    arguments,
                     GError **error)
{
  g_autofree char *path = NULL;
  const GOptionEntry entries[] = {
    { "oom", 0, 0, G_OPTION_ARG_FILENAME, &path, N_("How to make a plan fit into memory"), "PLAN" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmLadder) ladder = NULL;
  const QmDevice *device;

  if (!qm_cli_parse (cli, &left, entries, 0, 0, error))
    return FALSE;
  if (path == NULL)
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("diagnose: --oom PLAN is missing"));
      return FALSE;
    }
  if (qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  resolved = qm_cli_load_plan (cli, path, error);
  if (resolved == NULL)
    return FALSE;
  device = find_device (cli, resolved, error);
  if (device == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }

  ladder = qm_ladder_new (cli->estimator, resolved, device);
  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_ladder_to_json (ladder);

      qm_cli_print_json (node, TRUE);
    }
  else
    print_ladder (ladder, device);

  return TRUE;
}
