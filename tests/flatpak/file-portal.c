/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Stands in for the desktop's file chooser, which a sandboxed program asks by
 * way of the portal: whatever is to be saved or opened, the person chooses the
 * file of the arguments. Ends when the bus does. */

#include <gio/gio.h>
#include <stdio.h>

static const char interface[] =
  "<node><interface name='org.freedesktop.portal.FileChooser'>"
  "<method name='OpenFile'><arg type='s' direction='in'/><arg type='s' direction='in'/>"
  "<arg type='a{sv}' direction='in'/><arg type='o' direction='out'/></method>"
  "<method name='SaveFile'><arg type='s' direction='in'/><arg type='s' direction='in'/>"
  "<arg type='a{sv}' direction='in'/><arg type='o' direction='out'/></method>"
  "<property name='version' type='u' access='read'/>"
  "</interface></node>";

typedef struct {
  GDBusConnection *bus;
  char *asker;
  char *request;
  const char *uri;
} Answer;

static gboolean
answer (gpointer data)
{
  g_autofree Answer *self = data;
  GVariantBuilder results;
  const char *uris[] = { self->uri, NULL };

  g_variant_builder_init (&results, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&results, "{sv}", "uris", g_variant_new_strv (uris, -1));
  g_dbus_connection_emit_signal (self->bus, self->asker, self->request, "org.freedesktop.portal.Request", "Response",
                                 g_variant_new ("(ua{sv})", 0, &results), NULL);
  g_free (self->asker);
  g_free (self->request);

  return G_SOURCE_REMOVE;
}

static void
asked (GDBusConnection       *bus,
       const char            *sender,
       const char            *path,
       const char            *name,
       const char            *method,
       GVariant              *parameters,
       GDBusMethodInvocation *invocation,
       gpointer               data)
{
  g_autoptr (GVariant) options = g_variant_get_child_value (parameters, 2);
  g_autofree char *mangled = g_strdelimit (g_strdup (sender + 1), ".", '_');
  const char *token = "t";
  Answer *self = g_new0 (Answer, 1);

  g_variant_lookup (options, "handle_token", "&s", &token);
  self->bus = bus;
  self->uri = data;
  self->asker = g_strdup (sender);
  self->request = g_strdup_printf ("/org/freedesktop/portal/desktop/request/%s/%s", mangled, token);
  g_print ("%s\n", method);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(o)", self->request));
  g_timeout_add (100, answer, self);
}

static GVariant *
get_version (GDBusConnection *bus,
             const char      *sender,
             const char      *path,
             const char      *name,
             const char      *property,
             GError         **error,
             gpointer         data)
{
  return g_variant_new_uint32 (4);
}

static const GDBusInterfaceVTable vtable = { .method_call = asked, .get_property = get_version };

static void
export (GDBusConnection *bus,
        const char      *name,
        gpointer         uri)
{
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (interface, NULL);

  g_dbus_connection_register_object (bus, "/org/freedesktop/portal/desktop", node->interfaces[0], &vtable, uri, NULL, NULL);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GFile) file = g_file_new_for_path (argc > 1 ? argv[1] : "");
  g_autofree char *uri = g_file_get_uri (file);

  setvbuf (stdout, NULL, _IOLBF, 0);
  g_bus_own_name (G_BUS_TYPE_SESSION, "org.freedesktop.portal.Desktop", 0, export, NULL, NULL, uri, NULL);
  g_main_loop_run (loop);

  return 0;
}
