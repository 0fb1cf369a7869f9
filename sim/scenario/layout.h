/* layout.h - values in memory as C lays out a struct: each member at a multiple of its size, the end padded likewise.
 * Private to sim/scenario; for arguments that are structs, and for what buffers hold at first.
 *
 * A member is a buffer's name (its address), `{TYPE: value}` or `{TYPE: [values]}` with i8 u8 i16 u16 i32 u32 i64 u64
 * f32 f64, `{pad: N}` for N bytes of zeros, a list (a struct in the struct), or a plain number: of the type with
 * which the program loads that place, if that is known, else i32. */
#ifndef LOCKSTEP_SCENARIO_LAYOUT_H
#define LOCKSTEP_SCENARIO_LAYOUT_H

#include "isa/ptx/ptx_tree.h"
#include "sim/scenario/loader.h"

/* The parameter of a kernel whose loads tell the types of plain numbers; all zeros: nothing does. */
typedef struct LayoutLoads {
  const PtxModule *module;
  uint32_t function, parameter; /* in the module; of the function */
} LayoutLoads;

/* The kernel's parameter, as the PTX that was read has it; nothing of SASS. */
LayoutLoads layout_loads(const Scenario *scenario, guint kernel, guint parameter);
/* "u64 at 0, f32 at 8": what the program loads of it, in order; NULL if that isn't known or too much. Free with
 * g_free. */
char *layout_loads_text(const LayoutLoads *loads);
/* Appends the members of a list to `bytes` and what is an address in them to `addresses` (ScenarioAddress; their
 * bytes are zeros), `max` bytes at most. `loads` may be NULL. False after an error. */
bool layout_members(Loader *loader, const YamlNode *list, const LayoutLoads *loads, uint64_t max, GByteArray *bytes,
                    GArray *addresses);
/* True if a list holds something that isn't a plain number. */
bool layout_is_needed(const Loader *loader, const YamlNode *list);

#endif
