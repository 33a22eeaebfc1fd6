/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "probe/qm-probe.h"

G_BEGIN_DECLS

/* A file of a captured tree. A path that ends in "@" is a link, and the text is
 * what it points to. */
typedef struct {
  const char *path;
  const char *text;
} QmTestFile;

typedef char *QmTestTree;

/* A tree in a folder of its own, removed by qm_test_tree_free(). */
QmTestTree            qm_test_tree_new     (const QmTestFile *files,
                                            guint             n_files);
void                  qm_test_tree_add     (const char       *root,
                                            const QmTestFile *files,
                                            guint             n_files);
void                  qm_test_tree_unpack  (const char       *root,
                                            const char       *text);
void                  qm_test_tree_free    (QmTestTree        root);

QmCatalog            *qm_test_catalog      (void);
QmMachine            *qm_test_probe        (const char       *root);
const QmProbedDevice *qm_test_device       (QmMachine        *machine,
                                            const char       *id);
const char           *qm_test_reason       (const QmProbedDevice *device,
                                            const char       *field);

/* The sanitizer of addresses keeps what was freed for a while, and everything takes
 * longer: what is measured of memory then says nothing. */
#ifdef __SANITIZE_ADDRESS__
#define QM_TEST_SANITIZED TRUE
#else
#define QM_TEST_SANITIZED (g_getenv ("QM_TEST_VALGRIND") != NULL)
#endif

G_DEFINE_AUTO_CLEANUP_FREE_FUNC (QmTestTree, qm_test_tree_free, NULL)

G_END_DECLS
