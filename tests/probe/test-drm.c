/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Graphics drivers of the kernel, played by functions that answer as the headers
 * of their interfaces describe. */

#include <drm/amdgpu_drm.h>
#include <drm/i915_drm.h>
#include <drm/xe_drm.h>
#include <errno.h>
#include <string.h>

#include "probe/qm-probe-private.h"

typedef struct {
  guint n_regions;
  struct {
    gboolean is_own;
    guint64 bytes;
  } regions[3];
  int fault;                        /* what every call returns; 0 none */
  int length;                       /* said in place of the right one; 0 none */
} Card;

static int
length_of (const Card *card,
           gsize       head,
           gsize       each)
{
  return card->length != 0 ? card->length : (int) (head + card->n_regions * each);
}

/* Asked without a place for the answer, it tells how long that is. */
static int
play_i915 (gpointer      data,
           unsigned long request,
           gpointer      argument)
{
  const Card *card = data;
  struct drm_i915_query *query = argument;
  struct drm_i915_query_item *item = (gpointer) (guintptr) query->items_ptr;
  struct drm_i915_query_memory_regions *answer = (gpointer) (guintptr) item->data_ptr;

  g_assert_cmpuint (request, ==, DRM_IOCTL_I915_QUERY);
  g_assert_cmpuint (query->num_items, ==, 1);
  g_assert_cmpuint (item->query_id, ==, 4); /* DRM_I915_QUERY_MEMORY_REGIONS */
  if (card->fault != 0)
    return card->fault;
  if (item->length == 0)
    {
      item->length = length_of (card, sizeof *answer, sizeof answer->regions[0]);
      return 0;
    }

  answer->num_regions = card->n_regions;
  for (guint i = 0; i < card->n_regions && card->length == 0; i++)
    {
      answer->regions[i].region.memory_class = card->regions[i].is_own ? 1 : 0;
      answer->regions[i].probed_size = card->regions[i].bytes;
      answer->regions[i].unallocated_size = card->regions[i].bytes;
    }

  return 0;
}

static int
play_xe (gpointer      data,
         unsigned long request,
         gpointer      argument)
{
  const Card *card = data;
  struct drm_xe_device_query *query = argument;
  struct drm_xe_query_mem_regions *answer = (gpointer) (guintptr) query->data;

  g_assert_cmpuint (request, ==, DRM_IOCTL_XE_DEVICE_QUERY);
  g_assert_cmpuint (query->query, ==, 1); /* DRM_XE_DEVICE_QUERY_MEM_REGIONS */
  if (card->fault != 0)
    return card->fault;
  if (query->size == 0)
    {
      query->size = length_of (card, sizeof *answer, sizeof answer->mem_regions[0]);
      return 0;
    }

  answer->num_mem_regions = card->n_regions;
  for (guint i = 0; i < card->n_regions && card->length == 0; i++)
    {
      answer->mem_regions[i].mem_class = card->regions[i].is_own ? 1 : 0;
      answer->mem_regions[i].total_size = card->regions[i].bytes;
    }

  return 0;
}

static const Card arc = { 2, { { FALSE, 67000000000 }, { TRUE, 17095983104 } } };
static const Card processor = { 1, { { FALSE, 33000000000 } } };
static const Card tiles = { 3, { { FALSE, 540000000000 }, { TRUE, 68719476736 }, { TRUE, 68719476736 } } };
static const Card refused = { .n_regions = 1, .fault = -1 };
static const Card empty = { .n_regions = 0 };
static const Card negative = { .n_regions = 1, .length = -EINVAL };
static const Card short_answer = { .n_regions = 3, .length = 24 };

static void
check (const Card  *card,
       QmDrmMemory  memory,
       double       bytes)
{
  const QmDrm i915 = { play_i915, (gpointer) card };
  const QmDrm xe = { play_xe, (gpointer) card };
  double found = -1;

  g_assert_cmpint (qm_drm_read_memory (&i915, "i915", &found), ==, memory);
  g_assert_cmpfloat (found, ==, bytes);
  g_assert_cmpint (qm_drm_read_memory (&xe, "xe", &found), ==, memory);
  g_assert_cmpfloat (found, ==, bytes);
}

static void
test_intel (void)
{
  check (&arc, QM_DRM_MEMORY_OWN, 17095983104.0);
  check (&processor, QM_DRM_MEMORY_SHARED, 0);
  check (&tiles, QM_DRM_MEMORY_OWN, 2 * 68719476736.0);
}

/* What cannot be told is unknown, and nothing is read beyond the answer. */
static void
test_intel_faults (void)
{
  check (&refused, QM_DRM_MEMORY_UNKNOWN, 0);
  check (&empty, QM_DRM_MEMORY_UNKNOWN, 0);
  check (&negative, QM_DRM_MEMORY_UNKNOWN, 0);
  check (&short_answer, QM_DRM_MEMORY_UNKNOWN, 0);
}

static int
play_amdgpu (gpointer      data,
             unsigned long request,
             gpointer      argument)
{
  const struct drm_amdgpu_info *query = argument;
  struct drm_amdgpu_info_device answer = { .device_id = 0x1638, .ids_flags = *(const guint64 *) data };

  g_assert_cmpuint (request, ==, DRM_IOCTL_AMDGPU_INFO);
  g_assert_cmpuint (query->query, ==, 0x16); /* AMDGPU_INFO_DEV_INFO */
  memcpy ((gpointer) (guintptr) query->return_pointer, &answer, MIN (query->return_size, sizeof answer));

  return 0;
}

/* AMDGPU_IDS_FLAGS_FUSION is the lowest bit; the others mean other things. */
static void
test_amd (void)
{
  guint64 apu = 0x1, card = 0x2;
  const QmDrm of_apu = { play_amdgpu, &apu };
  const QmDrm of_card = { play_amdgpu, &card };
  double bytes;

  g_assert_cmpint (qm_drm_read_memory (&of_apu, "amdgpu", &bytes), ==, QM_DRM_MEMORY_SHARED);
  g_assert_cmpint (qm_drm_read_memory (&of_card, "amdgpu", &bytes), ==, QM_DRM_MEMORY_OWN);
}

static void
test_others (void)
{
  const QmDrm drm = { play_i915, (gpointer) &arc };
  double bytes = -1;

  g_assert_cmpint (qm_drm_read_memory (&drm, "radeon", &bytes), ==, QM_DRM_MEMORY_UNKNOWN);
  g_assert_cmpint (qm_drm_read_memory (&drm, NULL, &bytes), ==, QM_DRM_MEMORY_UNKNOWN);
  g_assert_cmpfloat (bytes, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/probe/drm/intel", test_intel);
  g_test_add_func ("/probe/drm/intel-faults", test_intel_faults);
  g_test_add_func ("/probe/drm/amd", test_amd);
  g_test_add_func ("/probe/drm/others", test_others);

  return g_test_run ();
}
