/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

#include <string.h>

/* 16 lanes double with each generation; the table starts with the third. */
#define FIRST_GENERATION 3
#define LAST_GENERATION 6

static const char *const networks[] = {
  "infiniband-", "roce-", "ethernet-", "efa-", "omni-path-", "rdma-", "dcn-", "network-",
};

static double
pcie_rate (const QmDomainSite *self,
           int                 generation)
{
  return self->constants->link.pcie3 * (1 << (CLAMP (generation, FIRST_GENERATION, LAST_GENERATION) - FIRST_GENERATION));
}

static double
own_pcie_rate (const QmDomainSite *self)
{
  int generation = self->device->pcie_generation;

  return pcie_rate (self, generation > 0 ? generation : (int) self->constants->link.pcie_generation);
}

/**
 * qm_domain_pcie:
 * @self: a site
 *
 * Returns: B/s between one device and the memory of its machine
 */
double
qm_domain_pcie (const QmDomainSite *self)
{
  return own_pcie_rate (self) * self->constants->link.pcie;
}

/* Whether cards of a machine are joined by a fabric of their own. A bridge joins
 * two, and is there where the plan says so: servers of such cards usually have it. */
static gboolean
has_fabric (const QmDomainSite *self)
{
  const QmDevice *device = self->device;

  if (!(device->link_bytes_per_second > 0))
    return FALSE;
  if (!self->bridge || strncmp (self->given->interconnect, "nvlink", 6) == 0)
    return TRUE;

  return self->devices <= 2 &&
         (device->device_class == QM_DEVICE_CLASS_DATACENTER || self->constants->link.bridge_unstated > 0);
}

/* PCIe rate left where cards reach each other by way of the memory of the host. */
static double
staged_share (const QmDomainSite *self,
              double              group)
{
  switch (self->device->device_class)
    {
    case QM_DEVICE_CLASS_CONSUMER:
      return self->constants->link.no_p2p * fmin (1, self->constants->link.staged_devices / group);
    case QM_DEVICE_CLASS_WORKSTATION:
      return self->constants->link.no_p2p_workstation;
    default:
      return 1;
    }
}

static double
inside_rate (const QmDomainSite *self,
             double              group)
{
  const QmDomainLinkConstants *constants = &self->constants->link;
  const QmDevice *device = self->device;
  const char *stated = self->given->interconnect;
  double shared = group >= constants->shared_from ? constants->pcie_shared : 1;

  if (strncmp (stated, "pcie", 4) == 0)
    {
      int generation = g_ascii_isdigit (stated[4]) ? g_ascii_digit_value (stated[4]) : 0;
      double rate = generation > 0 ? pcie_rate (self, generation) : own_pcie_rate (self);

      return rate * constants->pcie * shared;
    }

  if (has_fabric (self))
    return device->link_bytes_per_second / 2 * constants->nvlink;

  return own_pcie_rate (self) * constants->pcie * shared * staged_share (self, group);
}

/* Bit/s of a machine's network as the plan states it; 0 where it does not. */
static double
stated_network (const char *stated)
{
  double found = 0;

  for (const char *part = stated; part != NULL && *part != '\0';)
    {
      for (gsize i = 0; i < G_N_ELEMENTS (networks); i++)
        {
          gsize length = strlen (networks[i]);

          if (strncmp (part, networks[i], length) == 0 && g_ascii_isdigit (part[length]))
            found = 1e9 * g_ascii_strtoull (part + length, NULL, 10);
        }

      part = strchr (part, ',');
      if (part != NULL)
        part++;
    }

  return found;
}

static double
outside_rate (const QmDomainSite *self,
              double              group)
{
  const QmDomainLinkConstants *constants = &self->constants->link;
  gboolean datacenter = self->device->device_class == QM_DEVICE_CLASS_DATACENTER;
  double stated = self->given->interconnect[0] != '\0' ? stated_network (self->given->interconnect) : 0;

  if (stated > 0)
    return stated / 8 / group;

  if (self->device->is_hbm && datacenter)
    return self->new_port ? constants->port_new : constants->port_old;

  return (datacenter ? constants->machine_datacenter : constants->machine_other) / group;
}

/**
 * qm_domain_joined:
 * @self: a site
 *
 * Returns: how many devices of several machines are joined as if they were in
 *   one; 0 none
 */
double
qm_domain_joined (const QmDomainSite *self)
{
  const QmOtherDomainsConstants *constants = self->constants;

  for (int i = 0; i < constants->n_link_domains; i++)
    {
      if (g_str_has_prefix (self->device->id, constants->link_domains[i].prefix))
        return constants->link_domains[i].devices;
    }

  return 0;
}

/**
 * qm_domain_links:
 * @self: a site
 *
 * Returns: what one device exchanges with others, inside and between machines
 */
QmDomainLinks
qm_domain_links (const QmDomainSite *self)
{
  double group = fmax (1, floor (self->devices / self->nodes));
  QmDomainLinks links;

  links.inside = inside_rate (self, group);
  links.outside = outside_rate (self, group) * self->constants->link.network;
  links.group = fmax (group, fmin (self->joined, self->devices));
  links.overlap = self->device->device_class == QM_DEVICE_CLASS_CONSUMER && !has_fabric (self)
                    ? self->constants->link.overlap_staged : self->constants->link.overlap;

  return links;
}

/**
 * qm_domain_all_reduce:
 * @links: the links
 * @bytes: summed over all devices
 * @devices: how many
 * @passes: how often all bytes go round: 2 for a sum, 3 where weights are sharded
 *
 * Returns: seconds of a ring inside machines, then one between them
 */
double
qm_domain_all_reduce (const QmDomainLinks *links,
                      double               bytes,
                      double               devices,
                      double               passes)
{
  double group = fmin (links->group, devices);
  double groups = fmax (1, floor (devices / group));
  double seconds = 0;

  if (devices <= 1)
    return 0;

  if (group > 1)
    seconds = passes * (group - 1) / group * bytes / links->inside;
  if (groups > 1)
    seconds = fmax (seconds, passes * (groups - 1) / groups * (bytes / group) / links->outside);

  return seconds;
}

/**
 * qm_domain_all_to_all:
 * @self: a site
 * @links: its links
 * @bytes: that every device sends in a step
 *
 * Returns: seconds until each device has what the others hold for it
 */
double
qm_domain_all_to_all (const QmDomainSite  *self,
                      const QmDomainLinks *links,
                      double               bytes)
{
  const QmDomainLinkConstants *constants = &self->constants->link;
  double group = fmin (links->group, self->devices);
  double groups = fmax (1, floor (self->devices / group));
  double seconds = bytes * (group - 1) / group / (links->inside * constants->all_to_all);

  if (groups > 1)
    seconds += bytes * (groups - 1) / groups / (links->outside * constants->all_to_all);

  return seconds + constants->all_to_all_latency * log2 (self->devices);
}

/**
 * qm_domain_exposed:
 * @links: the links
 * @communication: seconds of communication
 * @computation: seconds of the computation it can hide behind
 *
 * Returns: seconds of @communication that lengthen the step
 */
double
qm_domain_exposed (const QmDomainLinks *links,
                   double               communication,
                   double               computation)
{
  double overlap = links->overlap;

  return fmax (communication - overlap * computation, 0) + 0.5 * (1 - overlap) * fmin (communication, computation);
}
