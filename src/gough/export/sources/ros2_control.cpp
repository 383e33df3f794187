// A feedforward controller in the shape of ros2_control's ChainableControllerInterface (ROS 2 Jazzy). Written by gough.
//
// With ROS 2, replace the include of the stubs by <controller_interface/chainable_controller_interface.hpp>, remove main
// and export the class by pluginlib. The stubs only let this file compile without ROS.
#include "ros2_control_stubs.hpp"

#include "@name@.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace @name@_controller
{

// Takes the reference position, velocity and acceleration of each actuator from a preceding controller, such as one that
// follows a trajectory, and writes the effort that the model needs for this motion. It contains no feedback: add its
// effort to that of the controller that does.
//
// Do not connect measured values to the references. A measured acceleration times the mass matrix would feed the effort
// back to itself, and dry friction would follow the sign of the noise of a measured velocity.
class FeedforwardController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override { return controller_interface::CallbackReturn::SUCCESS; }

  controller_interface::InterfaceConfiguration command_interface_configuration() const override
  {
    return {controller_interface::interface_configuration_type::INDIVIDUAL, names({"effort"})};
  }

  controller_interface::InterfaceConfiguration state_interface_configuration() const override
  {
    return {controller_interface::interface_configuration_type::NONE, {}};
  }

  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    gx_start(&state_);
    forget();
    return controller_interface::CallbackReturn::SUCCESS;
  }

  controller_interface::return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    std::array<gx_real, GX_ACTUATORS> q{}, dq{}, ddq{}, tau{};
    bool is_given = true;
    for (std::size_t i = 0; i < GX_ACTUATORS; ++i) {
      q[i] = static_cast<gx_real>(reference_interfaces_[3 * i]);
      dq[i] = static_cast<gx_real>(reference_interfaces_[3 * i + 1]);
      ddq[i] = static_cast<gx_real>(reference_interfaces_[3 * i + 2]);
      is_given = is_given && !std::isnan(q[i]) && !std::isnan(dq[i]) && !std::isnan(ddq[i]);
    }
    last_status = gx_torque(&model, q.data(), dq.data(), ddq.data(), GX_WITH_ALL, &state_, tau.data());
    const bool is_valid = last_status < GX_INVALID;
    for (std::size_t i = 0; i < GX_ACTUATORS; ++i)
      (void)command_interfaces_[i].set_value(is_valid ? static_cast<double>(tau[i]) : 0.0);  // no feedforward on failure
    // references are NaN until the preceding controller has written them: this is no error
    return is_valid || !is_given ? controller_interface::return_type::OK : controller_interface::return_type::ERROR;
  }

  gx_model model = gx_identified;  // parameters may be replaced at run time
  int last_status = GX_OK;

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override
  {
    const auto all = names({"position", "velocity", "acceleration"});
    reference_interfaces_.resize(all.size());
    forget();
    std::vector<hardware_interface::CommandInterface> exported;
    for (std::size_t i = 0; i < all.size(); ++i)
      exported.emplace_back(get_node()->get_name(), all[i], &reference_interfaces_[i]);
    return exported;
  }

  // Without a preceding controller there are no references: subscribe to a topic here to have others.
  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override
  {
    return controller_interface::return_type::OK;
  }

private:
  void forget()
  {
    for (double & value : reference_interfaces_)
      value = std::numeric_limits<double>::quiet_NaN();
  }

  static std::vector<std::string> names(const std::vector<std::string> & kinds)
  {
    std::vector<std::string> all;
    for (const char * joint : {@joints@})
      for (const auto & kind : kinds)
        all.push_back(std::string(joint) + "/" + kind);
    return all;
  }

  gx_state state_{};
};

}  // namespace @name@_controller

// Compiled alone, this file is a program that runs cycles without references, with those of home, and with a bad one.
int main()
{
  using controller_interface::return_type;
  @name@_controller::FeedforwardController controller;
  controller.load(controller.command_interface_configuration().names.size());
  auto references = controller.export_reference_interfaces();
  controller.on_activate({});
  const bool waits = controller.update({}, {}) == return_type::OK && controller.command(0) == 0.0;
  gx_state home;
  gx_start(&home);
  static const int places[GX_ACTUATORS] = {@actuated_places@};
  gx_real efforts[GX_ACTUATORS];
  for (std::size_t i = 0; i < GX_ACTUATORS; ++i) {
    references[3 * i].set_value(static_cast<double>(home.s[places[i]]));
    references[3 * i + 1].set_value(0.0);
    references[3 * i + 2].set_value(0.0);
  }
  bool holds = controller.update({}, {}) == return_type::OK;
  gx_real q[GX_ACTUATORS], still[GX_ACTUATORS] = {};
  for (std::size_t i = 0; i < GX_ACTUATORS; ++i)
    q[i] = home.s[places[i]];
  holds = holds && gx_torque(&gx_identified, q, still, still, GX_WITH_ALL, &home, efforts) < GX_INVALID;
  for (std::size_t i = 0; i < GX_ACTUATORS; ++i)
    holds = holds && controller.command(i) == static_cast<double>(efforts[i]);
  references[0].set_value(std::numeric_limits<double>::infinity());
  const bool fails = controller.update({}, {}) == return_type::ERROR && controller.command(0) == 0.0;
  return waits && holds && fails ? 0 : 1;
}
