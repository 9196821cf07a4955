/*
 * input.h - the parsed input, for the rest of this folder.
 */
#ifndef HOB_SRC_AGUI_INPUT_H
#define HOB_SRC_AGUI_INPUT_H

#include <hob/agui_input.h>

#include "base/json.h"

enum { HOB_AGUI_ID_MAX = 1024 }; /* bytes */

const hob_json *hob_agui_input_json(const hob_agui_input *in); /* as understood */

#endif
