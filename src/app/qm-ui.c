/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-ui.h"

#include <math.h>

/**
 * qm_ui_label:
 * @text: what it says
 * @style: (nullable): style classes with spaces between
 *
 * Returns: (transfer floating): a label of one line, at the start
 */
GtkWidget *
qm_ui_label (const char *text,
             const char *style)
{
  GtkWidget *label = gtk_label_new (text);
  g_auto (GStrv) classes = g_strsplit (style != NULL ? style : "", " ", -1);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  for (guint i = 0; classes[i] != NULL; i++)
    if (classes[i][0] != '\0')
      gtk_widget_add_css_class (label, classes[i]);

  return label;
}

/**
 * qm_ui_wrapped:
 * @text: what it says
 * @style: (nullable): style classes with spaces between
 *
 * Returns: (transfer floating): a label of as many lines as it takes
 */
GtkWidget *
qm_ui_wrapped (const char *text,
               const char *style)
{
  GtkWidget *label = qm_ui_label (text, style);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_natural_wrap_mode (GTK_LABEL (label), GTK_NATURAL_WRAP_WORD);

  return label;
}

/* A cell of a table has room for so many letters at least. */
#define CELL_LETTERS 16
/* Of a name in a list that opens: what a phone's width holds. */
#define ENTRY_LETTERS 34

/**
 * qm_ui_cell:
 * @text: what it says
 * @style: (nullable): style classes with spaces between
 *
 * Returns: (transfer floating): a label for a table, wide enough that no word is
 *   broken
 */
GtkWidget *
qm_ui_cell (const char *text,
            const char *style)
{
  GtkWidget *label = qm_ui_wrapped (text, style);

  gtk_label_set_width_chars (GTK_LABEL (label), MIN (CELL_LETTERS, g_utf8_strlen (text, -1) + 2));
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  gtk_widget_set_hexpand (label, TRUE);

  return label;
}

static gboolean
scroll_page (GtkEventControllerScroll *controller,
             double                    dx,
             double                    dy,
             gpointer                  unused)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  GtkWidget *table = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller));
  GtkWidget *page = gtk_widget_get_ancestor (gtk_widget_get_parent (table), GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *place;
  double step;

  if (page == NULL || fabs (dx) >= fabs (dy) || (state & GDK_SHIFT_MASK) != 0)
    return GDK_EVENT_PROPAGATE;

  place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (page));
  /* As far as GTK itself goes at a click of the wheel. */
  step = gtk_event_controller_scroll_get_unit (controller) == GDK_SCROLL_UNIT_WHEEL ? pow (gtk_adjustment_get_page_size (place), 2.0 / 3) : 1;
  gtk_adjustment_set_value (place, gtk_adjustment_get_value (place) + dy * step);

  return GDK_EVENT_STOP;
}

/**
 * qm_ui_scroll_page_from:
 * @table: a scrolled window that scrolls sideways alone, inside of a page
 *
 * Turning the wheel over it scrolls the page: GTK stops these events there, and a
 * reader would be stuck.
 */
void
qm_ui_scroll_page_from (GtkWidget *table)
{
  GtkEventController *wheel = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);

  gtk_event_controller_set_propagation_phase (wheel, GTK_PHASE_CAPTURE);
  g_signal_connect (wheel, "scroll", G_CALLBACK (scroll_page), NULL);
  gtk_widget_add_controller (table, wheel);
}

/**
 * qm_ui_sideways:
 * @table: what may be wider than the window
 *
 * Returns: (transfer floating): @table, which scrolls sideways then; the keyboard
 *   stops on it, so it is to have a name
 */
GtkWidget *
qm_ui_sideways (GtkWidget *table)
{
  GtkWidget *scrolled = g_object_new (GTK_TYPE_SCROLLED_WINDOW, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);

  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), table);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
  qm_ui_scroll_page_from (scrolled);

  return scrolled;
}

static void
setup_name (GtkSignalListItemFactory *factory,
            GtkListItem              *item)
{
  GtkWidget *name = gtk_label_new ("");

  gtk_label_set_wrap (GTK_LABEL (name), TRUE);
  gtk_label_set_xalign (GTK_LABEL (name), 1);
  gtk_label_set_justify (GTK_LABEL (name), GTK_JUSTIFY_RIGHT);
  gtk_list_item_set_child (item, name);
}

static void
bind_name (GtkSignalListItemFactory *factory,
           GtkListItem              *item)
{
  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)), gtk_string_object_get_string (gtk_list_item_get_item (item)));
}

static void
setup_entry (GtkSignalListItemFactory *factory,
             GtkListItem              *item)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *name = gtk_label_new ("");
  GtkWidget *check = gtk_image_new_from_icon_name ("object-select-symbolic");

  gtk_label_set_wrap (GTK_LABEL (name), TRUE);
  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_widget_set_hexpand (name, TRUE);
  g_object_bind_property (item, "selected", check, "visible", G_BINDING_SYNC_CREATE);
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), check);
  gtk_list_item_set_child (item, box);
}

static void
bind_entry (GtkSignalListItemFactory *factory,
            GtkListItem              *item)
{
  const char *text = gtk_string_object_get_string (gtk_list_item_get_item (item));
  GtkLabel *name = GTK_LABEL (gtk_widget_get_first_child (gtk_list_item_get_child (item)));

  gtk_label_set_label (name, text);
  gtk_label_set_width_chars (name, MIN (ENTRY_LETTERS, g_utf8_strlen (text, -1)));
}

static GtkListItemFactory *
factory_new (GCallback setup,
             GCallback bind)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", setup, NULL);
  g_signal_connect (factory, "bind", bind, NULL);

  return factory;
}

/**
 * qm_ui_show_whole_names:
 * @row: a row of #GtkStringObject to choose from
 *
 * Names are shown whole, in the row and in its list: they differ in their ends, and
 * what is too long takes more lines.
 */
void
qm_ui_show_whole_names (AdwComboRow *row)
{
  g_autoptr (GtkListItemFactory) name = factory_new (G_CALLBACK (setup_name), G_CALLBACK (bind_name));
  g_autoptr (GtkListItemFactory) entry = factory_new (G_CALLBACK (setup_entry), G_CALLBACK (bind_entry));

  adw_combo_row_set_factory (row, name);
  adw_combo_row_set_list_factory (row, entry);
}

/**
 * qm_ui_box:
 * @orientation: along which its children lie
 * @spacing: between them, in pixels
 *
 * Returns: (transfer floating): an empty box
 */
GtkWidget *
qm_ui_box (GtkOrientation orientation,
           int            spacing)
{
  return gtk_box_new (orientation, spacing);
}

/**
 * qm_ui_icon_tile:
 * @icon_name: a symbolic icon
 * @small: as in rows; else as in cards
 *
 * Returns: (transfer floating): the icon on a tinted tile
 */
GtkWidget *
qm_ui_icon_tile (const char *icon_name,
                 gboolean    small)
{
  GtkWidget *image = gtk_image_new_from_icon_name (icon_name);

  gtk_image_set_pixel_size (GTK_IMAGE (image), small ? 16 : 24);
  gtk_widget_add_css_class (image, "icon-tile");
  if (small)
    gtk_widget_add_css_class (image, "small");
  gtk_widget_set_valign (image, small ? GTK_ALIGN_CENTER : GTK_ALIGN_START);
  gtk_widget_set_halign (image, GTK_ALIGN_START);

  return image;
}

/**
 * qm_ui_heading:
 * @eyebrow: (nullable): a line above, e.g. "Step 2 of 8"
 * @title: the question
 * @subtitle: (nullable): a sentence below
 *
 * Returns: (transfer floating): the head of a page
 */
GtkWidget *
qm_ui_heading (const char *eyebrow,
               const char *title,
               const char *subtitle)
{
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);

  if (eyebrow != NULL)
    gtk_box_append (GTK_BOX (box), qm_ui_label (eyebrow, "caption-heading accent"));
  gtk_box_append (GTK_BOX (box), qm_ui_wrapped (title, "question"));
  if (subtitle != NULL)
    gtk_box_append (GTK_BOX (box), qm_ui_wrapped (subtitle, "second"));
  gtk_widget_set_margin_bottom (box, 12);

  return box;
}

/**
 * qm_ui_page:
 * @content: what it holds
 * @maximum_width: in pixels
 *
 * Returns: (transfer floating): @content, clamped and scrolled
 */
GtkWidget *
qm_ui_page (GtkWidget *content,
            int        maximum_width)
{
  /* Of a page without controls the keyboard is on this: it may have a name. */
  GtkWidget *scrolled = g_object_new (GTK_TYPE_SCROLLED_WINDOW, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);
  GtkWidget *clamp = adw_clamp_new ();

  gtk_widget_set_margin_top (content, 30);
  gtk_widget_set_margin_bottom (content, 36);
  gtk_widget_set_margin_start (content, 18);
  gtk_widget_set_margin_end (content, 18);
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), maximum_width);
  adw_clamp_set_tightening_threshold (ADW_CLAMP (clamp), maximum_width);
  adw_clamp_set_child (ADW_CLAMP (clamp), content);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), clamp);
  /* What scrolls inside of the page is as high as it wants to be. */
  gtk_scrollable_set_vscroll_policy (GTK_SCROLLABLE (gtk_scrolled_window_get_child (GTK_SCROLLED_WINDOW (scrolled))), GTK_SCROLL_NATURAL);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand (scrolled, TRUE);

  return scrolled;
}

/**
 * qm_ui_status:
 * @icon_name: a symbolic icon
 * @title: what it says
 * @text: (nullable): more of it
 * @button: (nullable): what can be done
 *
 * Returns: (transfer floating): a page that says why nothing else is there
 */
GtkWidget *
qm_ui_status (const char *icon_name,
              const char *title,
              const char *text,
              GtkWidget  *button)
{
  GtkWidget *page = adw_status_page_new ();
  g_autofree char *escaped = text != NULL ? g_markup_escape_text (text, -1) : NULL;

  adw_status_page_set_icon_name (ADW_STATUS_PAGE (page), icon_name);
  adw_status_page_set_title (ADW_STATUS_PAGE (page), title);
  adw_status_page_set_description (ADW_STATUS_PAGE (page), escaped);
  adw_status_page_set_child (ADW_STATUS_PAGE (page), button);

  return page;
}

/**
 * qm_ui_loading:
 * @title: what is waited for
 *
 * Returns: (transfer floating): a page that stands there until it is done
 */
GtkWidget *
qm_ui_loading (const char *title)
{
  GtkWidget *page = adw_status_page_new ();
  g_autoptr (AdwSpinnerPaintable) spinner = adw_spinner_paintable_new (page);

  adw_status_page_set_paintable (ADW_STATUS_PAGE (page), GDK_PAINTABLE (spinner));
  adw_status_page_set_title (ADW_STATUS_PAGE (page), title);

  return page;
}

/**
 * qm_ui_clear:
 * @box: a box
 *
 * Takes all its children out.
 */
void
qm_ui_clear (GtkWidget *box)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (box)) != NULL)
    gtk_box_remove (GTK_BOX (box), child);
}

/**
 * qm_ui_guide:
 * @topic: the id of an entry of the guide
 * @tooltip: what it explains
 *
 * Returns: (transfer floating): a button that opens the guide there
 */
GtkWidget *
qm_ui_guide (const char *topic,
             const char *tooltip)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("help-about-symbolic");

  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "circular");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.guide");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", topic);

  return button;
}

/**
 * qm_ui_set_label:
 * @widget: a widget that shows no text of its own
 * @label: its name for assistive technology
 */
void
qm_ui_set_label (GtkWidget  *widget,
                 const char *label)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

/**
 * qm_ui_add_property:
 * @group: an #AdwPreferencesGroup
 * @title: what it is
 * @value: (nullable): what it says; empty or %NULL adds nothing
 *
 * Adds a row to be read, and copied from.
 */
void
qm_ui_add_property (GtkWidget  *group,
                    const char *title,
                    const char *value)
{
  GtkWidget *row;

  if (value == NULL || value[0] == '\0')
    return;

  row = adw_action_row_new ();
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), value);
  adw_action_row_set_subtitle_selectable (ADW_ACTION_ROW (row), TRUE);
  gtk_widget_add_css_class (row, "property");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

/**
 * qm_ui_tool:
 * @icon_name: a symbolic icon
 * @tooltip: what it does
 * @clicked: (scope notified): called with @data alone
 * @data: the widget that the button is part of
 *
 * Returns: (transfer floating): a flat button with an icon
 */
GtkWidget *
qm_ui_tool (const char *icon_name,
            const char *tooltip,
            GCallback   clicked,
            gpointer    data)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon_name);

  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  g_signal_connect_swapped (button, "clicked", clicked, data);

  return button;
}

typedef struct {
  GtkWidget *widget;                /* not owned: it has the connection */
  void (*update) (GtkWidget *widget);
  gboolean stale;
} Watch;

static void
changed (Watch *watch)
{
  watch->stale = !gtk_widget_get_mapped (watch->widget);
  if (!watch->stale)
    watch->update (watch->widget);
}

static void
came_in_sight (GtkWidget *widget,
               Watch     *watch)
{
  if (watch->stale)
    watch->update (watch->widget);
  watch->stale = FALSE;
}

static void
watch_unref (gpointer  watch,
             GClosure *closure)
{
  g_rc_box_release (watch);
}

/**
 * qm_ui_update_in_sight:
 * @widget: what shows something of @source
 * @source: which changes
 * @signal: how it says so
 * @update: called with @widget when it does and is seen, or when it is seen next
 *
 * What nobody looks at is not made, nor made anew with each step of a slider:
 * @update is called when @widget is seen first, too.
 */
void
qm_ui_update_in_sight (GtkWidget  *widget,
                       gpointer    source,
                       const char *signal,
                       GCallback   update)
{
  Watch *watch = g_rc_box_new0 (Watch);
  GClosure *closure = g_cclosure_new_swap (G_CALLBACK (changed), watch, watch_unref);

  watch->widget = widget;
  watch->stale = TRUE;
  watch->update = (void (*) (GtkWidget *)) update;
  g_object_watch_closure (G_OBJECT (widget), closure);
  g_signal_connect_closure (source, signal, closure, FALSE);
  g_signal_connect_data (widget, "map", G_CALLBACK (came_in_sight), g_rc_box_acquire (watch), watch_unref, G_CONNECT_DEFAULT);
}

/**
 * qm_ui_roles:
 *
 * Returns: (transfer none): the colours of charts in the theme as it is
 */
const QmPalette *
qm_ui_roles (void)
{
  AdwStyleManager *style = adw_style_manager_get_default ();

  if (adw_style_manager_get_high_contrast (style))
    return adw_style_manager_get_dark (style) ? qm_palette_dark_contrast () : qm_palette_light_contrast ();

  return adw_style_manager_get_dark (style) ? qm_palette_dark () : qm_palette_light ();
}

/**
 * qm_ui_palette:
 * @widget: what is drawn
 *
 * Returns: the colours of charts; text is as in @widget
 */
QmPalette
qm_ui_palette (GtkWidget *widget)
{
  QmPalette palette = *qm_ui_roles ();
  GdkRGBA text;

  gtk_widget_get_color (widget, &text);
  palette.text = (QmColor) { text.red, text.green, text.blue, text.alpha };
  palette.second_text = palette.text;
  palette.second_text.alpha *= adw_style_manager_get_high_contrast (adw_style_manager_get_default ()) ? 0.88 : 0.72;

  return palette;
}

/**
 * qm_ui_follow_theme:
 * @widget: what is drawn in the colours of qm_ui_roles()
 *
 * Draws it anew when they change.
 */
void
qm_ui_follow_theme (GtkWidget *widget)
{
  AdwStyleManager *style = adw_style_manager_get_default ();

  g_signal_connect_object (style, "notify::dark", G_CALLBACK (gtk_widget_queue_draw), widget, G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (gtk_widget_queue_draw), widget, G_CONNECT_SWAPPED);
}

/**
 * qm_ui_append_hatching:
 * @snapshot: a snapshot
 * @rect: what to cover
 * @ink: the colour of text there
 *
 * Marks a stretch where nothing is to be had.
 */
void
qm_ui_append_hatching (GtkSnapshot           *snapshot,
                       const graphene_rect_t *rect,
                       const GdkRGBA         *ink)
{
  GdkRGBA pale = *ink, line = *ink;

  pale.alpha *= 0.1;
  line.alpha *= 0.35;
  gtk_snapshot_append_repeating_linear_gradient (snapshot, rect, &rect->origin,
                                                 &GRAPHENE_POINT_INIT (rect->origin.x + 4, rect->origin.y + 4),
                                                 (GskColorStop[]) { { 0, pale }, { 0.6f, pale }, { 0.6f, line }, { 1, line } }, 4);
}
