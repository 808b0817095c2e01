data "berth_pool" "default" {
  name = "default"
}

output "granted_to" {
  value = data.berth_pool.default.granted_to
}
