/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-columns.h"

struct _QmColumns {
  GtkWidget parent_instance;

  int column_width;
  int maximum;
  int spacing;
};

G_DEFINE_FINAL_TYPE (QmColumns, qm_columns, GTK_TYPE_WIDGET)

static int
n_children (QmColumns *self)
{
  int n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self)); child != NULL; child = gtk_widget_get_next_sibling (child))
    n += gtk_widget_should_layout (child);

  return n;
}

static int
n_columns (QmColumns *self,
           int        width)
{
  int fit = (width + self->spacing) / (self->column_width + self->spacing);

  return CLAMP (fit, 1, MAX (1, MIN (self->maximum, n_children (self))));
}

static int
width_of_column (QmColumns *self,
                 int        width,
                 int        columns)
{
  return MAX (1, (width - (columns - 1) * self->spacing) / columns);
}

/* The next child that is laid out, from @child on. */
static GtkWidget *
laid_out (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);

  return child;
}

static int
height_of_row (GtkWidget *child,
               int        columns,
               int        width)
{
  int height = 0;

  for (int i = 0; i < columns && child != NULL; i++, child = laid_out (gtk_widget_get_next_sibling (child)))
    {
      int minimum, natural;

      gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, width, &minimum, &natural, NULL, NULL);
      height = MAX (height, natural);
    }

  return height;
}

static int
height_for (QmColumns *self,
            int        width)
{
  int columns = n_columns (self, width);
  GtkWidget *child = laid_out (gtk_widget_get_first_child (GTK_WIDGET (self)));
  int height = 0;

  while (child != NULL)
    {
      height += height_of_row (child, columns, width_of_column (self, width, columns)) + self->spacing;
      for (int i = 0; i < columns && child != NULL; i++)
        child = laid_out (gtk_widget_get_next_sibling (child));
    }

  return MAX (0, height - self->spacing);
}

static void
qm_columns_measure (GtkWidget      *widget,
                    GtkOrientation  orientation,
                    int             for_size,
                    int            *minimum,
                    int            *natural,
                    int            *minimum_baseline,
                    int            *natural_baseline)
{
  QmColumns *self = QM_COLUMNS (widget);
  int widest = 0;

  *minimum_baseline = *natural_baseline = -1;
  for (GtkWidget *child = laid_out (gtk_widget_get_first_child (widget)); child != NULL; child = laid_out (gtk_widget_get_next_sibling (child)))
    {
      int least;

      gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
      widest = MAX (widest, least);
    }

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = widest;
      *natural = MAX (widest, self->maximum * (self->column_width + self->spacing) - self->spacing);
    }
  else
    *minimum = *natural = height_for (self, for_size > 0 ? for_size : MAX (widest, self->column_width));
}

static GtkSizeRequestMode
qm_columns_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_columns_size_allocate (GtkWidget *widget,
                          int        width,
                          int        height,
                          int        baseline)
{
  QmColumns *self = QM_COLUMNS (widget);
  int columns = n_columns (self, width);
  int column_width = width_of_column (self, width, columns);
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  GtkWidget *child = laid_out (gtk_widget_get_first_child (widget));
  int y = 0;

  while (child != NULL)
    {
      int row_height = height_of_row (child, columns, column_width);

      for (int i = 0; i < columns && child != NULL; i++, child = laid_out (gtk_widget_get_next_sibling (child)))
        {
          int x = (mirrored ? columns - 1 - i : i) * (column_width + self->spacing);

          gtk_widget_size_allocate (child, &(GtkAllocation) { x, y, column_width, row_height }, -1);
        }
      y += row_height + self->spacing;
    }
}

static void
qm_columns_dispose (GObject *object)
{
  qm_columns_clear (QM_COLUMNS (object));

  G_OBJECT_CLASS (qm_columns_parent_class)->dispose (object);
}

static void
qm_columns_class_init (QmColumnsClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_columns_dispose;
  widget_class->measure = qm_columns_measure;
  widget_class->get_request_mode = qm_columns_get_request_mode;
  widget_class->size_allocate = qm_columns_size_allocate;
}

static void
qm_columns_init (QmColumns *self)
{
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
}

/**
 * qm_columns_new:
 * @column_width: what a column needs to be worth its while, in pixels
 * @maximum: how many there are at most
 * @spacing: between columns and rows, in pixels
 *
 * Returns: (transfer floating): an empty set of columns
 */
GtkWidget *
qm_columns_new (int column_width,
                int maximum,
                int spacing)
{
  QmColumns *self = g_object_new (QM_TYPE_COLUMNS, NULL);

  self->column_width = column_width;
  self->maximum = maximum;
  self->spacing = spacing;

  return GTK_WIDGET (self);
}

/**
 * qm_columns_append:
 * @self: the columns
 * @child: what comes last
 */
void
qm_columns_append (QmColumns *self,
                   GtkWidget *child)
{
  gtk_widget_set_parent (child, GTK_WIDGET (self));
}

/**
 * qm_columns_clear:
 * @self: the columns
 *
 * Takes all children out.
 */
void
qm_columns_clear (QmColumns *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
}
