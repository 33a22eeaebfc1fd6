/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "accessible-tree.h"

#include <unistd.h>

#define ROOT       "/org/a11y/atspi/accessible/root"
#define ACCESSIBLE "org.a11y.atspi.Accessible"
#define FOCUSABLE  11               /* at-spi2-core, atspi-constants.h */
#define SHOWING    25
#define PATIENCE   10000            /* milliseconds for one reply */

struct _AccessibleBus {
  GDBusConnection *connection;
  char *program;                    /* its name on the bus */
  guint subscription;
  GStrvBuilder *announced;
  GPtrArray *nodes;
  gboolean done;
};

/* ------------------------------------------------------------------------ calls */

static GVariant *
call (AccessibleBus *self,
      const char    *name,
      const char    *path,
      const char    *interface,
      const char    *method,
      GVariant      *arguments)
{
  g_autoptr (GError) error = NULL;
  GVariant *reply = g_dbus_connection_call_sync (self->connection, name, path, interface, method, arguments, NULL,
                                                 G_DBUS_CALL_FLAGS_NONE, PATIENCE, NULL, &error);

  /* What was there a moment ago may be gone. */
  if (error != NULL)
    g_test_message ("%s of %s: %s", method, path, error->message);

  return reply;
}

/* Name, description and number of children. */
static gboolean
read_properties (AccessibleBus  *self,
                 const char     *path,
                 AccessibleNode *node)
{
  g_autoptr (GVariant) reply = call (self, self->program, path, "org.freedesktop.DBus.Properties", "GetAll",
                                     g_variant_new ("(s)", ACCESSIBLE));
  g_autoptr (GVariant) all = NULL;
  gint32 children = 0;

  if (reply == NULL)
    return FALSE;

  all = g_variant_get_child_value (reply, 0);
  g_variant_lookup (all, "Name", "s", &node->name);
  g_variant_lookup (all, "Description", "s", &node->description);
  g_variant_lookup (all, "ChildCount", "i", &children);
  return children > 0;
}

static guint64
states_of (AccessibleBus *self,
           const char    *path)
{
  g_autoptr (GVariant) reply = call (self, self->program, path, ACCESSIBLE, "GetState", NULL);
  g_autoptr (GVariant) words = reply != NULL ? g_variant_get_child_value (reply, 0) : NULL;
  guint32 low, high;

  if (words == NULL || g_variant_n_children (words) != 2)
    return 0;

  g_variant_get_child (words, 0, "u", &low);
  g_variant_get_child (words, 1, "u", &high);
  return low | (guint64) high << 32;
}

static guint
role_of (AccessibleBus *self,
         const char    *path)
{
  g_autoptr (GVariant) reply = call (self, self->program, path, ACCESSIBLE, "GetRole", NULL);
  guint role = 0;

  if (reply != NULL)
    g_variant_get (reply, "(u)", &role);

  return role;
}

static void
node_free (AccessibleNode *node)
{
  g_free (node->name);
  g_free (node->description);
  g_free (node->where);
  g_free (node);
}

static gboolean
has_state (const AccessibleNode *node,
           guint                 state)
{
  return (node->states >> state & 1) != 0;
}

static gboolean
is_combo_box (const AccessibleNode *node)
{
  return node != NULL && (node->in_combo_box || node->role == ACCESSIBLE_ROLE_COMBO_BOX);
}

static void read_below (AccessibleBus        *self,
                        const char           *path,
                        const AccessibleNode *above);

static void
read_node (AccessibleBus        *self,
           const char           *path,
           const AccessibleNode *above)
{
  AccessibleNode *node = g_new0 (AccessibleNode, 1);
  gboolean has_children = read_properties (self, path, node);

  g_ptr_array_add (self->nodes, node);
  node->depth = above != NULL ? above->depth + 1 : 0;
  node->in_combo_box = is_combo_box (above);
  node->in_alert = above != NULL && (above->in_alert || above->role == ACCESSIBLE_ROLE_ALERT);
  node->where = above != NULL && above->name != NULL && *above->name != '\0' ? g_strdup_printf ("%s/%s", above->where, above->name)
                                                                             : g_strdup (above != NULL ? above->where : "");
  node->states = states_of (self, path);
  node->role = role_of (self, path);
  if (has_children && has_state (node, SHOWING))
    read_below (self, path, node);
}

static void
read_below (AccessibleBus        *self,
            const char           *path,
            const AccessibleNode *above)
{
  g_autoptr (GVariant) reply = call (self, self->program, path, ACCESSIBLE, "GetChildren", NULL);
  g_autoptr (GVariantIter) iter = NULL;
  const char *child;

  if (reply == NULL)
    return;

  g_variant_get (reply, "(a(so))", &iter);
  while (g_variant_iter_next (iter, "(&s&o)", NULL, &child))
    read_node (self, child, above);
}

/* --------------------------------------------------------------------------- bus */

/* Which of the programs on the bus this is. */
static char *
find_program (AccessibleBus *self)
{
  g_autoptr (GVariant) reply = call (self, "org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren", NULL);
  g_autoptr (GVariantIter) iter = NULL;
  const char *name;

  if (reply == NULL)
    return NULL;

  g_variant_get (reply, "(a(so))", &iter);
  while (g_variant_iter_next (iter, "(&s&o)", &name, NULL))
    {
      g_autoptr (GVariant) process = call (self, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                           "GetConnectionUnixProcessID", g_variant_new ("(s)", name));
      guint32 id = 0;

      if (process != NULL)
        g_variant_get (process, "(u)", &id);
      if (id == (guint32) getpid ())
        return g_strdup (name);
    }

  return NULL;
}

static gboolean
finish (gpointer data)
{
  ((AccessibleBus *) data)->done = TRUE;
  return G_SOURCE_REMOVE;
}

/* The program answers in the main thread while this one asks. */
static gpointer
read_all (gpointer data)
{
  AccessibleBus *self = data;

  if (self->program == NULL)
    self->program = find_program (self);
  if (self->program != NULL)
    read_below (self, ROOT, NULL);
  g_idle_add (finish, self);

  return NULL;
}

static void
announced (GDBusConnection *connection,
           const char      *sender,
           const char      *path,
           const char      *interface,
           const char      *signal,
           GVariant        *parameters,
           gpointer         data)
{
  AccessibleBus *self = data;
  g_autoptr (GVariant) value = g_variant_get_child_value (parameters, 3);
  g_autoptr (GVariant) text = g_variant_get_variant (value);

  if (g_variant_is_of_type (text, G_VARIANT_TYPE_STRING))
    g_strv_builder_add (self->announced, g_variant_get_string (text, NULL));
}

/* Returns: (nullable): %NULL where there is no accessibility bus */
AccessibleBus *
accessible_bus_new (void)
{
  g_autoptr (GDBusConnection) session = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  g_autoptr (GVariant) reply = session != NULL ? g_dbus_connection_call_sync (session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus",
                                                                            "GetAddress", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL)
                                               : NULL;
  const char *address;
  AccessibleBus *self;

  if (reply == NULL)
    return NULL;

  g_variant_get (reply, "(&s)", &address);
  self = g_new0 (AccessibleBus, 1);
  self->connection = g_dbus_connection_new_for_address_sync (address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                             G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, NULL);
  g_assert_nonnull (self->connection);
  self->announced = g_strv_builder_new ();
  self->subscription = g_dbus_connection_signal_subscribe (self->connection, NULL, "org.a11y.atspi.Event.Object", "Announcement", NULL, NULL,
                                                           G_DBUS_SIGNAL_FLAGS_NONE, announced, self, NULL);
  return self;
}

void
accessible_bus_free (AccessibleBus *self)
{
  g_dbus_connection_signal_unsubscribe (self->connection, self->subscription);
  g_object_unref (self->connection);
  g_strv_builder_unref (self->announced);
  g_free (self->program);
  g_free (self);
}

GPtrArray *
accessible_bus_read (AccessibleBus *self)
{
  g_autoptr (GThread) thread = NULL;

  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) node_free);
  self->done = FALSE;
  thread = g_thread_new ("screen-reader", read_all, self);
  while (!self->done)
    g_main_context_iteration (NULL, TRUE);
  g_thread_join (g_steal_pointer (&thread));

  return g_steal_pointer (&self->nodes);
}

/* at-spi2-core, atspi-constants.h: invalid, filler, panel, unknown */
gboolean
accessible_role_is_generic (guint role)
{
  return role == 0 || role == 20 || role == 39 || role == 67;
}

/* What can be seen and may hold the keyboard. */
gboolean
accessible_node_is_stop (const AccessibleNode *node)
{
  return has_state (node, FOCUSABLE) && has_state (node, SHOWING);
}

gboolean
accessible_node_is_named (const AccessibleNode *node)
{
  return node->name != NULL && *node->name != '\0';
}

GStrv
accessible_bus_take_announcements (AccessibleBus *self)
{
  return g_strv_builder_end (self->announced);
}
