resource "aws_cloudwatch_log_group" "main" {
  for_each          = setunion(["flow"], keys(local.roles))
  name              = "/${var.name}/${each.key}"
  retention_in_days = var.log_retention_days
  kms_key_id        = aws_kms_key.main.arn
}

# A line with level ERROR needs a person (docs/observability.md).
resource "aws_cloudwatch_log_metric_filter" "errors" {
  for_each       = toset(keys(local.roles))
  name           = "${var.name}-${each.key}-errors"
  log_group_name = aws_cloudwatch_log_group.main[each.key].name
  pattern        = "{ $.level = \"ERROR\" }"

  metric_transformation {
    name          = "Errors"
    namespace     = var.name
    value         = "1"
    default_value = "0"
  }
}
