#include "sim/report/json.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "sim/report/details.h"
#include "sim/report/dump_text.h"
#include "sim/report/json_fields.h"

static void add_lanes(JsonBuilder *builder, uint32_t lanes) {
  json_begin_array(builder, "lanes");
  for (unsigned lane = 0; lane < 32; lane++)
    if (lanes >> lane & 1)
      json_builder_add_int_value(builder, lane);
  json_builder_end_array(builder);
}

static void add_evidence(JsonBuilder *builder, const GPtrArray *evidence) {
  json_begin_array(builder, "evidence");
  for (guint i = 0; evidence && i < evidence->len; i++) {
    const Evidence *item = g_ptr_array_index(evidence, i);
    json_builder_begin_object(builder);
    json_add_string(builder, "file", item->file);
    json_add_int_or_null(builder, "line", item->line, item->line > 0);
    json_add_string(builder, "text", item->text);
    json_add_string(builder, "callers", item->callers);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

static void add_finding(JsonBuilder *builder, const Finding *finding) {
  json_builder_begin_object(builder);
  json_add_string(builder, "id", finding_name(finding->id));
  json_add_string(builder, "severity", severity_name(finding_severity(finding->id)));
  json_add_string(builder, "message", finding->message);
  json_add_string(builder, "file", finding->file);
  json_add_int_or_null(builder, "line", finding->line, finding->line > 0);
  json_add_string(builder, "source", finding->source);
  json_add_string(builder, "inlined", finding->inlined);
  json_add_string(builder, "callers", finding->callers);
  json_add_int(builder, "cycle", (int64_t)finding->cycle);
  json_add_int_or_null(builder, "block", finding->block, finding->block >= 0);
  json_add_int_or_null(builder, "warp", finding->warp, finding->warp >= 0);
  add_lanes(builder, finding->lanes);
  json_add_string(builder, "space", finding->space);
  json_add_int_or_null(builder, "address", (int64_t)finding->address, finding->space != NULL);
  json_add_int_or_null(builder, "lock_bit", finding->lock_bit, finding->lock_bit >= 0);
  json_add_string(builder, "holder", finding->holder);
  json_add_string(builder, "repair", finding->repair);
  json_add_int(builder, "count", (int64_t)finding->count);
  add_evidence(builder, finding->evidence);
  json_builder_end_object(builder);
}

static void add_regions(JsonBuilder *builder, const GArray *regions) {
  json_begin_array(builder, "regions");
  for (guint i = 0; regions && i < regions->len; i++) {
    const RegionResult *region = &g_array_index(regions, RegionResult, i);
    json_builder_begin_object(builder);
    json_add_int(builder, "from", region->from);
    json_add_int(builder, "to", region->to);
    json_add_int_or_null(builder, "first_cycle", (int64_t)region->first_cycle, region->found);
    json_add_int_or_null(builder, "last_cycle", (int64_t)region->last_cycle, region->found);
    json_add_int_or_null(builder, "cycles", (int64_t)(region->last_cycle - region->first_cycle), region->found);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

static void add_longest(JsonBuilder *builder, const LongestLaunch *longest) {
  json_builder_set_member_name(builder, "longest_launch");
  json_builder_begin_object(builder);
  json_add_int(builder, "launch", longest->launch);
  json_add_int(builder, "cycles", (int64_t)longest->cycles);
  json_builder_end_object(builder);
}

static void add_transfers(JsonBuilder *builder, const MeasuredTransfers *transfers) {
  json_builder_set_member_name(builder, "lock_transfers");
  json_builder_begin_object(builder);
  json_add_int(builder, "number", (int64_t)transfers->transfers);
  json_add_double(builder, "mean_cycles", transfers->mean_cycles);
  json_builder_end_object(builder);
}

static void add_occupancy(JsonBuilder *builder, const GArray *occupancy) {
  json_begin_array(builder, "occupancy");
  for (guint i = 0; occupancy && i < occupancy->len; i++) {
    const LaunchOccupancy *item = &g_array_index(occupancy, LaunchOccupancy, i);
    json_builder_begin_object(builder);
    json_add_string(builder, "kernel", item->kernel);
    json_add_int(builder, "blocks_per_sm", item->occupancy.blocks);
    json_begin_array(builder, "limited_by");
    for (unsigned limit = 0; limit < OCCUPANCY_LIMITS; limit++)
      if (item->occupancy.limits[limit])
        json_builder_add_string_value(builder, occupancy_limit_name(limit));
    json_builder_end_array(builder);
    json_add_int(builder, "warps_per_sm", item->occupancy.warps);
    json_add_int(builder, "max_warps_per_sm", item->occupancy.max_warps);
    json_add_int(builder, "registers_per_thread", item->occupancy.thread_registers);
    json_add_int(builder, "registers_spilled_bytes", item->occupancy.spill_bytes);
    json_add_int(builder, "shared_bytes_per_block", item->occupancy.shared_bytes);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

static void add_counters(JsonBuilder *builder, const Counters *counters) {
  json_builder_set_member_name(builder, "counters");
  json_builder_begin_object(builder);
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    json_add_int(builder, counter_info[i].name, (int64_t)counter_value(counters, i));
  json_builder_end_object(builder);
}

static void add_schedules(JsonBuilder *builder, const GArray *schedules) {
  json_begin_array(builder, "schedules");
  for (guint i = 0; i < schedules->len; i++) {
    const ScheduleResult *schedule = &g_array_index(schedules, ScheduleResult, i);
    json_builder_begin_object(builder);
    json_add_string(builder, "policy", schedule->policy);
    json_add_string(builder, "branch_order", schedule->branch_order);
    json_add_string(builder, "dispatch_order", schedule->dispatch_order);
    if (schedule->held_up)
      json_add_int(builder, "held_up", schedule->held_up);
    if (schedule->held_once)
      json_add_int(builder, "held_once", schedule->held_once);
    if (schedule->late_stores)
      json_add_int(builder, "late_stores", schedule->late_stores);
    json_add_int(builder, "seed", (int64_t)schedule->seed);
    json_add_string(builder, "verdict", verdict_name(schedule->verdict));
    json_add_int(builder, "cycles", (int64_t)schedule->cycles);
    json_add_int(builder, "result", schedule->result);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

static void add_results(JsonBuilder *builder, const GPtrArray *results) {
  json_begin_array(builder, "results");
  for (guint i = 0; i < results->len; i++)
    json_add_text(builder, g_ptr_array_index(results, i));
  json_builder_end_array(builder);
}

static void add_unfinished(JsonBuilder *builder, const Unfinished *unfinished) {
  if (!unfinished->left)
    return;
  json_builder_set_member_name(builder, "held_up_unfinished");
  json_builder_begin_object(builder);
  json_add_int(builder, "schedules", unfinished->left);
  json_add_int(builder, "tried", unfinished->tried);
  json_add_int(builder, "cycles", (int64_t)unfinished->cycles);
  json_add_string(builder, "again", unfinished->again);
  json_builder_end_object(builder);
}

/* The wait-for graph is JSON already: it becomes part of the object. */
static void add_wait_graph(JsonBuilder *builder, const char *text) {
  if (!text)
    return;
  JsonNode *graph = json_from_string(text, NULL);
  if (!graph)
    return;
  json_builder_set_member_name(builder, "wait_graph");
  json_builder_add_value(builder, graph);
}

static void add_span(JsonBuilder *builder, const SeedSpan *span) {
  json_builder_set_member_name(builder, "over_seeds");
  json_builder_begin_object(builder);
  json_add_int(builder, "seeds", span->seeds);
  json_add_int(builder, "alike", span->alike);
  json_add_double(builder, "mean_cycles", span->mean);
  json_add_int(builder, "least_cycles", (int64_t)span->least);
  json_add_int(builder, "most_cycles", (int64_t)span->most);
  json_builder_end_object(builder);
}

char *json_run(const RunResult *result) {
  JsonBuilder *builder = json_start();
  json_add_string(builder, "scenario", result->scenario);
  json_add_string(builder, "file", result->file);
  json_add_string(builder, "machine", result->machine);
  if (result->code)
    json_add_string(builder, "code", result->code);
  json_add_changes(builder, &result->changes);
  json_add_int(builder, "seed", (int64_t)result->seed);
  json_add_string(builder, "verdict", verdict_name(result->verdict));
  json_add_string(builder, "ended_by", stop_name(result->stop));
  json_add_int(builder, "exit_status", run_result_exit_status(result));
  json_add_int(builder, "cycles", (int64_t)result->cycles);
  json_add_int(builder, "measured_cycles", (int64_t)run_result_measured_cycles(result));
  if (result->span.seeds)
    add_span(builder, &result->span);
  json_add_double(builder, "clock_hz", result->clock_hz);
  json_add_int_or_null(builder, "operations", result->operations, result->has_operations);
  g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", result->memory_digest);
  json_add_string(builder, "memory_digest", digest);
  json_add_string(builder, "printed", result->printed);
  add_regions(builder, result->regions);
  if (result->longest.found)
    add_longest(builder, &result->longest);
  if (result->transfers.found)
    add_transfers(builder, &result->transfers);
  add_occupancy(builder, result->occupancy);
  json_begin_array(builder, "findings");
  for (guint i = 0; i < result->findings->len; i++)
    add_finding(builder, g_ptr_array_index(result->findings, i));
  json_builder_end_array(builder);
  json_add_bool(builder, "has_expectation", result->has_expectation);
  json_add_bool(builder, "expects_findings_only", result->expects_findings);
  json_begin_array(builder, "failures");
  for (guint i = 0; result->failures && i < result->failures->len; i++)
    json_add_text(builder, g_ptr_array_index(result->failures, i));
  json_builder_end_array(builder);
  add_counters(builder, &result->counters);
  if (result->details)
    details_json(result->details, builder);
  if (result->dumps)
    dump_json(result->dumps, builder);
  if (result->schedules) {
    json_add_int(builder, "schedules_wanted", result->schedules_wanted);
    add_schedules(builder, result->schedules);
    add_results(builder, result->results);
    json_add_string(builder, "again", result->again);
    add_unfinished(builder, &result->unfinished);
  }
  add_wait_graph(builder, result->wait_graph_json);
  return json_finish(builder);
}

static void add_rank_row(JsonBuilder *builder, const Measurement *row, const Measurement *baseline, double hz) {
  json_builder_begin_object(builder);
  json_add_string(builder, "scenario", row->scenario);
  json_add_string(builder, "about", row->about);
  json_add_string(builder, "verdict", verdict_name(row->verdict));
  json_add_bool(builder, "as_expected", row->as_expected);
  json_add_int(builder, "runs", row->cycles.runs);
  json_add_double(builder, "mean_cycles", row->cycles.mean);
  json_add_double(builder, "deviation_cycles", row->cycles.deviation);
  json_add_double(builder, "lowest_cycles", row->cycles.lowest);
  json_add_double(builder, "highest_cycles", row->cycles.highest);
  json_add_double(builder, "mean_microseconds", row->cycles.mean / hz * 1e6);
  json_add_double(builder, "ratio", row->ratio);
  json_add_double(builder, "ratio_deviation", rank_ratio_deviation(baseline, row));
  json_add_int(builder, "shared_bytes", (int64_t)row->shared_bytes);
  json_add_int(builder, "lock_bits", (int64_t)row->lock_bits);
  json_add_int_or_null(builder, "operations", row->operations, row->has_operations);
  json_add_string(builder, "ratio_of", row->by_operation ? "operation" : "run");
  json_builder_end_object(builder);
}

char *json_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes) {
  JsonBuilder *builder = json_start();
  json_add_string(builder, "machine", machine->name);
  json_add_changes(builder, changes);
  json_add_double(builder, "clock_hz", machine->clocks.sm);
  json_begin_array(builder, "rows");
  for (guint i = 0; i < rows->len; i++)
    add_rank_row(builder, g_ptr_array_index(rows, i), g_ptr_array_index(rows, 0), machine->clocks.sm);
  json_builder_end_array(builder);
  return json_finish(builder);
}

static void add_validation_row(JsonBuilder *builder, const ValidationRow *row) {
  g_autofree char *judgement = validation_judgement_text(row);
  json_builder_begin_object(builder);
  json_add_string(builder, "row", row->row);
  json_add_string(builder, "scenario", row->scenario);
  json_add_string(builder, "machine", row->machine);
  json_add_texts(builder, "params", (const char *const *)row->params);
  json_add_texts(builder, "set", (const char *const *)row->changes);
  json_add_string(builder, "group", validation_group_name(row->group));
  json_add_string(builder, "metric", metric_name(row->metric));
  json_add_string(builder, "baseline", row->baseline);
  json_add_double(builder, "printed", row->printed);
  json_add_string(builder, "unit", row->unit);
  json_add_double(builder, "published", row->published);
  json_add_double(builder, "predicted", row->predicted);
  json_add_double(builder, "deviation", row->deviation);
  json_builder_set_member_name(builder, "error_percent");
  if (row->has_error)
    json_builder_add_double_value(builder, row->error_percent);
  else
    json_builder_add_null_value(builder);
  json_add_string(builder, "judgement", judgement);
  json_add_string(builder, "verdict", verdict_name(row->verdict));
  json_add_bool(builder, "as_expected", row->as_expected);
  json_add_string(builder, "source", row->source);
  json_add_string(builder, "page", row->page);
  json_add_string(builder, "note", row->note);
  json_add_string(builder, "statement", row->statement);
  json_builder_end_object(builder);
}

static void add_validation_summary(JsonBuilder *builder, const ValidationSummary *summary) {
  json_builder_begin_object(builder);
  json_add_string(builder, "group", validation_group_name(summary->group));
  json_add_string(builder, "metric", metric_name(summary->metric));
  json_add_int(builder, "rows", summary->rows);
  json_add_int(builder, "rows_in_mean_error", summary->errors);
  json_add_double(builder, "mean_absolute_percentage_error", summary->mean_error_percent);
  if (summary->statements) {
    json_add_int(builder, "statements", summary->statements);
    json_add_double(builder, "statements_mean_percent", summary->statement_error_percent);
    json_add_double(builder, "statements_worst_percent", summary->statement_worst_percent);
  }
  json_builder_set_member_name(builder, "rank_correlation");
  if (summary->has_correlation)
    json_builder_add_double_value(builder, summary->correlation);
  else
    json_builder_add_null_value(builder);
  json_builder_end_object(builder);
}

char *json_validation(const Validation *validation, const Changes *changes) {
  JsonBuilder *builder = json_start();
  json_add_string(builder, "suite", validation->suite);
  json_add_int(builder, "seeds", validation->seeds);
  json_add_texts(builder, "settings", changes->settings);
  json_begin_array(builder, "rows");
  for (guint i = 0; i < validation->rows->len; i++)
    add_validation_row(builder, g_ptr_array_index(validation->rows, i));
  json_builder_end_array(builder);
  json_begin_array(builder, "summaries");
  for (guint i = 0; i < validation->summaries->len; i++)
    add_validation_summary(builder, &g_array_index(validation->summaries, ValidationSummary, i));
  json_builder_end_array(builder);
  return json_finish(builder);
}
