resource "berth_webhook" "example" {
  name   = "ops"
  url    = "https://hooks.example.com/berth"
  events = ["berth.task.failed", "berth.spend_cap.*"]
  labels = { team = "ml" }
}

# A chat takes a message of its own form.
resource "berth_webhook" "chat" {
  name     = "chat"
  url      = "https://chat.example.com/in"
  events   = ["berth.schedule.*"]
  schedule = "nightly"
  headers  = { "X-Source" = "berth" }
  payload  = jsonencode({ text = { "$event" = "/type" } })
  ordered  = true
}

ephemeral "berth_new_secret" "signing" {
  of = berth_webhook.example.id
}

resource "terraform_data" "store" {
  triggers_replace = berth_webhook.example.created_at

  provisioner "local-exec" {
    command     = "umask 077 && printenv SECRET > webhook.secret"
    environment = { SECRET = ephemeral.berth_new_secret.signing.value }
  }
}
