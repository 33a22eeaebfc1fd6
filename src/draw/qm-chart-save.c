/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "qm-chart-private.h"
#include "qm-file.h"

#define SMALLEST 200
#define SMALLEST_HEIGHT 150
#define LARGEST  8000
#define PADDING  20
#define FIXED_DATE "2000-01-01T00:00:00Z"

typedef struct {
  const QmChart *chart;
  double scale;
  double width, height;             /* of the page, in the units of the chart */
  double head;                      /* height of title and subtitle */
} Page;

static double
lay_head (const Page *page,
          QmScene    *scene)
{
  QmTextStyle title = { .size = 16, .weight = 700, .ink = QM_INK_TEXT, .wrap = page->width - 2 * PADDING };
  QmTextStyle subtitle = { .size = QM_TEXT_SIZE, .ink = QM_INK_SECOND, .wrap = page->width - 2 * PADDING };
  QmBox box = qm_scene_text (scene, PADDING, PADDING - 4, page->chart->title, &title);

  box = qm_scene_text (scene, PADDING, box.y + box.height + 3, page->chart->subtitle, &subtitle);

  return box.y + box.height + 12;
}

static double
least_height (Page *page)
{
  g_autoptr (QmScene) scene = qm_scene_new (page->chart->language);

  page->head = lay_head (page, scene);
  return page->head + qm_chart_least_height (page->chart, page->width - 2 * PADDING) + PADDING - 4;
}

/* The largest scale at which head and chart have room. */
static Page
page_of (const QmChart *self,
         double         width,
         double         height)
{
  Page page = { .chart = self, .scale = MIN (1, width / (qm_chart_least_width (self) + 2 * PADDING)) };

  while (TRUE)
    {
      page.width = width / page.scale;
      page.height = height / page.scale;
      if (page.scale < 0.05 || least_height (&page) <= page.height)
        return page;
      page.scale *= 0.93;
    }
}

static void
draw_page (const QmChart   *self,
           cairo_t         *cr,
           double           width,
           double           height,
           const QmPalette *palette)
{
  Page page = page_of (self, width, height);
  g_autoptr (QmScene) head = qm_scene_new (self->language);

  cairo_set_source_rgb (cr, palette->card.red, palette->card.green, palette->card.blue);
  cairo_paint (cr);
  cairo_scale (cr, page.scale, page.scale);
  lay_head (&page, head);
  qm_scene_paint (head, cr, palette);
  cairo_translate (cr, PADDING, page.head);
  qm_chart_draw (self, cr, page.width - 2 * PADDING, page.height - page.head - PADDING + 4, palette);
}

static cairo_status_t
append (void                *closure,
        const unsigned char *data,
        unsigned int         length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *
surface_for (const QmChart *self,
             const char    *ending,
             double         width,
             double         height,
             GByteArray    *bytes)
{
  cairo_surface_t *surface;

  if (strcmp (ending, ".png") == 0)
    return cairo_image_surface_create (CAIRO_FORMAT_RGB24, lround (width), lround (height));
  if (strcmp (ending, ".svg") == 0)
    {
      surface = cairo_svg_surface_create_for_stream (append, bytes, width, height);
      cairo_svg_surface_set_document_unit (surface, CAIRO_SVG_UNIT_PX);
      return surface;
    }

  surface = cairo_pdf_surface_create_for_stream (append, bytes, width, height);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, self->title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "Quartermaster " QM_VERSION);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, FIXED_DATE);

  return surface;
}

static GByteArray *
render (const QmChart   *self,
        const char      *ending,
        double           width,
        double           height,
        const QmPalette *palette,
        GError         **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  cairo_surface_t *surface = surface_for (self, ending, width, height, bytes);
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  draw_page (self, cr, width, height, palette);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS && strcmp (ending, ".png") == 0)
    status = cairo_surface_write_to_png_stream (surface, append, bytes);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);

  if (status == CAIRO_STATUS_SUCCESS)
    return g_steal_pointer (&bytes);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, _("The chart could not be drawn: %s"), cairo_status_to_string (status));
  return NULL;
}

static const char *
ending_of (const char *path,
           GError    **error)
{
  static const char * const endings[] = { ".png", ".svg", ".pdf" };
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *lower = g_ascii_strdown (name, -1);

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (lower, endings[i]) && strlen (lower) > strlen (endings[i]))
      return endings[i];

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, _("“%s” does not end in .png, .svg or .pdf"), name);
  return NULL;
}

/**
 * qm_chart_page_height:
 * @self: a chart
 * @width: of a file that it is saved to
 *
 * Returns: a height of the file, title and subtitle counted, at which it looks
 *   well
 */
double
qm_chart_page_height (const QmChart *self,
                      double         width)
{
  Page page = { .chart = self, .scale = MIN (1, width / (qm_chart_least_width (self) + 2 * PADDING)) };
  double inside;

  page.width = width / page.scale;
  inside = page.width - 2 * PADDING;
  least_height (&page);

  return CLAMP (ceil ((page.head + qm_chart_natural_height (self, inside) + PADDING - 4) * page.scale), SMALLEST_HEIGHT, LARGEST);
}

/**
 * qm_chart_save:
 * @self: a chart
 * @path: the file; its ending says the format: `.png`, `.svg` or `.pdf`
 * @width: in pixels, in points for PDF; 200 to 8000
 * @height: likewise
 * @dark: on a dark ground
 * @error: return location for an error
 *
 * Writes the chart with title and subtitle, the whole file or nothing.
 *
 * Returns: whether it worked; sets %G_IO_ERROR_NOT_SUPPORTED for another
 *   ending, %G_IO_ERROR_INVALID_ARGUMENT for an impossible size, a
 *   %QM_FILE_ERROR where the file cannot be written
 */
gboolean
qm_chart_save (const QmChart *self,
               const char    *path,
               double         width,
               double         height,
               gboolean       dark,
               GError       **error)
{
  const char *ending = ending_of (path, error);
  g_autoptr (GByteArray) bytes = NULL;

  if (ending == NULL)
    return FALSE;
  if (!(width >= SMALLEST && width <= LARGEST && height >= SMALLEST_HEIGHT && height <= LARGEST))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, _("A chart of %.0f × %.0f is not possible"), width, height);
      return FALSE;
    }

  bytes = render (self, ending, width, height, dark ? qm_palette_dark () : qm_palette_light (), error);
  if (bytes == NULL)
    return FALSE;

  return qm_file_write (path, (const char *) bytes->data, bytes->len, error);
}
