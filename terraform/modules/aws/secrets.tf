# One secret for each use, so that a role reads only its own. Values are write-only: they are in no state and in no plan.

locals {
  endpoint = "${aws_db_instance.main.address}:${aws_db_instance.main.port}/berth?sslmode=verify-full&sslrootcert=${var.rds_ca_file}"
  bus_host = trimprefix(split(",", aws_cloudformation_stack.broker.outputs["Endpoints"])[0], "amqps://")

  # Names of the secrets, and the setting that each one is.
  secret_settings = {
    owner-url            = "BERTH_DATABASE__URL"
    api-url              = "BERTH_DATABASE__API_URL"
    submit-url           = "BERTH_DATABASE__SUBMIT_URL"
    admin-url            = "BERTH_DATABASE__ADMIN_URL"
    scheduler-url        = "BERTH_DATABASE__SCHEDULER_URL"
    resource-manager-url = "BERTH_DATABASE__RM_URL"
    notifier-url         = "BERTH_DATABASE__NOTIFIER_URL"
    bus-url              = "BERTH_BUS__URL"
    redis-url            = "BERTH_REDIS__URL"
    key-hash-secret      = "BERTH_AUTH__KEY_HASH_SECRET"
    executor-secret      = "BERTH_AUTH__EXECUTOR_SECRET"
    jwt-key              = "BERTH_AUTH__JWT_KEY"
  }
  secret_values = {
    owner-url            = "postgres://berth:${var.passwords.owner}@${local.endpoint}"
    api-url              = "postgres://berth_api:${var.passwords.api}@${local.endpoint}"
    submit-url           = "postgres://berth_submit:${var.passwords.submit}@${local.endpoint}"
    admin-url            = "postgres://berth_admin:${var.passwords.admin}@${local.endpoint}"
    scheduler-url        = "postgres://berth_scheduler:${var.passwords.scheduler}@${local.endpoint}"
    resource-manager-url = "postgres://berth_rm:${var.passwords.resource_manager}@${local.endpoint}"
    notifier-url         = "postgres://berth_notifier:${var.passwords.notifier}@${local.endpoint}"
    bus-url              = "amqps://berth:${var.passwords.bus}@${local.bus_host}/%2f"
    redis-url            = "rediss://berth:${var.passwords.redis}@${aws_elasticache_replication_group.main.primary_endpoint_address}:6379"
    key-hash-secret      = var.passwords.key_hash_secret
    executor-secret      = var.passwords.executor_secret
    jwt-key              = var.passwords.jwt_key
  }
}

resource "aws_secretsmanager_secret" "main" {
  for_each                = local.secret_settings
  name                    = "${var.name}/${each.key}"
  description             = each.value
  kms_key_id              = aws_kms_key.main.arn
  recovery_window_in_days = 30
}

resource "aws_secretsmanager_secret_version" "main" {
  for_each                 = local.secret_settings
  secret_id                = aws_secretsmanager_secret.main[each.key].id
  secret_string_wo         = local.secret_values[each.key]
  secret_string_wo_version = var.passwords_version
}

# All passwords as given, for the one who runs Terraform; CloudFormation reads those of broker and Redis from here.
resource "aws_secretsmanager_secret" "passwords" {
  name                    = "${var.name}/passwords"
  description             = "Passwords of ${var.name}, as the variable `passwords`"
  kms_key_id              = aws_kms_key.main.arn
  recovery_window_in_days = 30
}

resource "aws_secretsmanager_secret_version" "passwords" {
  secret_id                = aws_secretsmanager_secret.passwords.id
  secret_string_wo         = jsonencode(var.passwords)
  secret_string_wo_version = var.passwords_version
}
