/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-message.h"

static void
test_fill (void)
{
  g_autoptr (QmMessage) message = qm_message_new ("fits", "{used} of {capacity} are used on {name}");
  g_autoptr (QmMessage) copy = NULL;
  g_autofree char *text = NULL;
  g_autofree char *detail = NULL;

  qm_message_add (message, "used", QM_ARGUMENT_BYTES, 28 * 1073741824.0);
  qm_message_add (message, "capacity", QM_ARGUMENT_BYTES, 45 * 1073741824.0);
  qm_message_add_text (message, "name", QM_ARGUMENT_NAME, "L40S {used}");
  qm_message_set_detail (message, "no such {place}.");
  copy = qm_message_copy (message);
  text = qm_message_get_text (copy, qm_words_english ());
  detail = qm_message_get_detail (copy, qm_words_english ());

  g_assert_cmpstr (text, ==, "28\302\240GiB of 45\302\240GiB are used on L40S {used}");
  g_assert_cmpstr (detail, ==, "no such .");
  g_assert_cmpstr (qm_message_get_code (copy), ==, "fits");
  g_assert_null (qm_message_get_source (copy));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/fill", test_fill);
  return g_test_run ();
}
