resource "berth_operator_key" "example" {
  name   = "metrics"
  scopes = ["read"]
}

ephemeral "berth_new_secret" "metrics" {
  of = berth_operator_key.example.id
}

resource "terraform_data" "store" {
  triggers_replace = berth_operator_key.example.id

  provisioner "local-exec" {
    command     = "umask 077 && printenv KEY > metrics.key"
    environment = { KEY = ephemeral.berth_new_secret.metrics.value }
  }
}
